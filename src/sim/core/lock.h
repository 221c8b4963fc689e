#ifndef SIM_CORE_LOCK_H
#define SIM_CORE_LOCK_H

/*
 * One lock guards everything the core keeps: devices, address space, pools, pinned ranges,
 * shadow, streams.  Nothing is called with it held that could come back to us.  A fork takes it,
 * so that a child finds it free and what it guards whole.
 */
void gpusim_lock(void);
void gpusim_unlock(void);

#endif
