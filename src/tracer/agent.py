"""What gpuleak asks of Python, run once inside the traced program.

Compiled into the tracer as text.  It imports nothing that the program has not
imported itself, keeps no reference to anything of the program's, and lets no
exception out.
"""
import os
import sys

KNOWN_MAX = 1000
known = {}  # id of an optimizer -> a weak reference to it, its number
numbers = [0]  # given so far


def register(pre_step, post_step):
    """Have the tracer called before and after each optimizer's step().

    None while torch.optim isn't there yet.  Else why that can't be done, which is "" where it is:
    before 2.0 there were no such hooks, and what later versions have is not ours to say.
    """
    optimizer = sys.modules.get("torch.optim.optimizer")
    spec = getattr(optimizer, "__spec__", None)
    if optimizer is None or getattr(spec, "_initializing", False):
        return None
    handles = []
    try:
        handles.append(optimizer.register_optimizer_step_pre_hook(pre_step))
        handles.append(optimizer.register_optimizer_step_post_hook(post_step))
    except BaseException as error:
        take_back(handles)
        if not isinstance(error, Exception):
            raise
        return "%s: %s" % (type(error).__name__, str(error)[:200])
    return ""


def take_back(handles):
    """Half of the hooks would have each step begin and none end."""
    for handle in handles:
        try:
            handle.remove()
        except Exception:
            pass


def tell_off(put, why):
    put("optimizers_off", why)


def entry(optimizer):
    """A weak reference to it, and a number that tells optimizers apart, also such as are made one
    after the other at one address."""
    found = known.get(id(optimizer))
    if found and found[0]() is optimizer:
        return found
    if len(known) >= KNOWN_MAX:
        for address in [a for a, (reference, _) in known.items() if reference() is None]:
            del known[address]
    numbers[0] += 1
    found = known[id(optimizer)] = sys.modules["weakref"].ref(optimizer), numbers[0]
    return found


def describe(put):
    """Tell what is known as soon as torch is there."""
    put("python", sys.version.split()[0])
    version = getattr(sys.modules.get("torch.version"), "__version__", None)
    if version:
        put("torch", str(version))
    cuda = getattr(sys.modules.get("torch.version"), "cuda", None)
    if cuda:
        put("cuda", str(cuda))
    put("stdlib", "\n".join(standard_library()))
    put("packages", "\n".join(package_folders()))
    main = sys.modules.get("__main__")
    if getattr(main, "__file__", None):
        put("main_file", os.path.abspath(main.__file__))
    if getattr(main, "__package__", None):
        put("main_package", main.__package__)


def collector(found):
    """Show the tracer two objects by which it finds the state of the garbage collector."""
    gc = sys.modules.get("gc")
    if gc is not None:
        found(gc.garbage, gc.callbacks)


def standard_library():
    folder = os.path.dirname(os.path.abspath(os.__file__))
    real = os.path.realpath(folder)
    return [folder] if folder == real else [folder, real]


def package_folders():
    return [
        path
        for path in sys.path
        if os.path.basename(path.rstrip("/")) in ("site-packages", "dist-packages")
    ]


most = 0  # bytes of parameters: of the largest optimizer so far


def describe_training(put, optimizer):
    """Tell what is known once the first step has been done."""
    global most
    most = 0
    put("optimizer", type(optimizer).__name__)
    for part in (parameters, ranks, devices):
        try:
            part(put, optimizer)
        except Exception:
            pass  # what isn't known stays unknown


def parameters(put, optimizer):
    """Also of optimizers that come later, and of groups that are added."""
    global most
    total = 0
    count = 0
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.is_cuda:
                total += parameter.numel() * parameter.element_size()
                count += 1
    if total > most:
        most = total
        put("parameters_bytes", str(total))
        put("parameters_count", str(count))


def in_use(put, optimizer):
    """Tell where the parameters and the state lie, which may have been loaded to there."""
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            put_address(put, parameter)
    for state in optimizer.state.values():
        for value in state.values() if isinstance(state, dict) else ():
            put_address(put, value)


def put_address(put, tensor):
    try:
        if tensor.is_cuda:
            put("in_use", str(tensor.untyped_storage().data_ptr()))
    except Exception:
        pass  # no tensor, or one without memory of its own


def ranks(put, _optimizer):
    distributed = sys.modules.get("torch.distributed")
    if distributed and distributed.is_available() and distributed.is_initialized():
        put("rank", str(distributed.get_rank()))
        put("world_size", str(distributed.get_world_size()))


def devices(put, optimizer):
    cuda = sys.modules["torch.cuda"]
    used = {
        parameter.device.index
        for group in optimizer.param_groups
        for parameter in group["params"]
        if parameter.is_cuda
    }
    for index in sorted(used):
        properties = cuda.get_device_properties(index)
        put("device_name.%d" % index, properties.name)
        put("device_capacity.%d" % index, str(properties.total_memory))
        if hasattr(properties, "uuid"):
            put("device_uuid.%d" % index, "GPU-%s" % properties.uuid)
