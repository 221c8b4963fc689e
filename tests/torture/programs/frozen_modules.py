"""With the standard library frozen into the interpreter: code objects without files."""

# python: -X frozen_modules=on -X dev -W error::ResourceWarning

from tiny import Training

Training().run(8)
print("done")
