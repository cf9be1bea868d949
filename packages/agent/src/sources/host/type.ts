import { counter, defineType, gauge, label, optional, timestamp } from '@sonde/sdk'

const seconds = (help: string) => counter('f64', { unit: 'seconds', help })
const bytes = (help: string) => optional(gauge('u64', { unit: 'bytes', help }))
const number = (help: string) => optional(gauge('u64', { help }))
const count = (help: string) => counter('u64', { help })

/** Where one CPU spent its time. */
export const hostCpuType = defineType('host_cpu', 'Time of one CPU by what it was spent on', {
  time: timestamp(),
  cpu: label('Number of the CPU'),
  user_seconds_total: seconds('Time in user mode, that of guests included'),
  nice_seconds_total: seconds('Time in user mode at lowered priority, that of niced guests included'),
  system_seconds_total: seconds('Time in the kernel'),
  idle_seconds_total: seconds('Time idle'),
  iowait_seconds_total: seconds(
    'Time idle while a task of this CPU waited for a disk; the kernel may take some of it back',
  ),
  irq_seconds_total: seconds('Time serving interrupts'),
  softirq_seconds_total: seconds('Time serving soft interrupts, as network packets raise them'),
  steal_seconds_total: seconds('Time that the hypervisor gave to others'),
  guest_seconds_total: seconds('Time running guests'),
  guest_nice_seconds_total: seconds('Time running guests at lowered priority'),
})

/** Memory of the node. */
export const hostMemoryType = defineType('host_memory', 'Memory of the node', {
  time: timestamp(),
  total_bytes: gauge('u64', { unit: 'bytes', help: 'Memory that the kernel manages' }),
  free_bytes: bytes('Memory that nothing uses'),
  available_bytes: bytes('Memory that new programs can have without swapping, as the kernel estimates it'),
  buffers_bytes: bytes('Cache of raw block devices'),
  cached_bytes: bytes('Cache of files, shared memory included'),
  dirty_bytes: bytes('Memory that waits to be written to disk'),
  writeback_bytes: bytes('Memory that is being written to disk'),
  anonymous_bytes: bytes('Memory of programs that no file backs'),
  mapped_bytes: bytes('Files that programs have mapped'),
  shared_bytes: bytes('Shared memory and tmpfs'),
  slab_bytes: bytes('Memory of the kernel’s own objects'),
  slab_reclaimable_bytes: bytes('Part of the kernel’s own objects that can be given back'),
  kernel_stack_bytes: bytes('Stacks of the kernel'),
  page_tables_bytes: bytes('Page tables'),
  locked_bytes: bytes('Memory that programs locked in place with mlock'),
  committed_bytes: bytes('Memory promised to programs, used or not'),
  commit_limit_bytes: bytes('Memory that may be promised where overcommitting is off'),
  swap_total_bytes: bytes('Swap space'),
  swap_free_bytes: bytes('Swap space that nothing uses'),
  swap_cached_bytes: bytes('Memory that is in swap as well'),
  hugepages: number('Huge pages of the default size that are reserved'),
  hugepages_free: number('Reserved huge pages that nothing uses'),
  hugepage_size_bytes: bytes('Default size of a huge page'),
})

/** How long tasks waited for a resource (PSI). */
export const hostPressureType = defineType('host_pressure', 'Time that tasks waited for a resource', {
  time: timestamp(),
  resource: label('cpu, memory, io or irq'),
  waiting_seconds_total: optional(seconds('Time during which at least one task waited for the resource')),
  stalled_seconds_total: optional(seconds('Time during which every task that could run waited for the resource')),
})

/** The receive path of the network stack, by CPU. */
export const hostSoftnetType = defineType('host_softnet', 'Packets through the receive path of one CPU', {
  time: timestamp(),
  cpu: label('Number of the CPU'),
  processed_total: count('Packets processed'),
  dropped_total: count('Packets dropped because the backlog of the CPU was full'),
  squeezed_total: count('Times that work was left when the budget of a round was spent'),
})

/** Load averages. */
export const hostLoadType = defineType('host_load', 'Tasks that run, wait to run or wait for a disk, averaged', {
  time: timestamp(),
  load1: gauge('f64', { metric: 'host_load1', help: 'Average over 1 minute' }),
  load5: gauge('f64', { metric: 'host_load5', help: 'Average over 5 minutes' }),
  load15: gauge('f64', { metric: 'host_load15', help: 'Average over 15 minutes' }),
})

/** What the kernel counts of the node as a whole. */
export const hostKernelType = defineType('host_kernel', 'What the kernel counts of the node as a whole', {
  time: timestamp(),
  boot_time_seconds: optional(
    gauge('u64', { unit: 'seconds', help: 'When the node started, in seconds since the Unix epoch' }),
  ),
  processes_running: number('Tasks that run or wait to run'),
  processes_blocked: number('Tasks that wait for a disk'),
  context_switches_total: optional(count('Context switches')),
  interrupts_total: optional(count('Interrupts served')),
  forks_total: optional(count('Processes and threads started')),
})
