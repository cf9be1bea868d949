import type { RecordOf } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText } from '../kernel-text.ts'
import type { hostCpuType, hostKernelType, hostLoadType, hostMemoryType, hostPressureType } from './type.ts'

/**
 * Fields of a record without its time. A parser that finds none returns the end of a sentence that starts with the path
 * of the file.
 */
type Fields<T> = Omit<RecordOf<T>, 'time'>

/**
 * Ticks per second in `/proc/stat`. The kernel converts its tick rate to USER_HZ, a constant of its ABI: 100 on every
 * architecture that Node runs on, whatever CONFIG_HZ is. `sysconf(_SC_CLK_TCK)`, which JavaScript cannot call, returns
 * the same constant.
 */
const TICKS_PER_SECOND = 100
const MICROSECONDS_PER_SECOND = 1e6
const BYTES_PER_KIBIBYTE = 1024

/**
 * Content of `/proc/stat`. Lines that cannot be read are left out; `malformed` is the first of them, cut at 100
 * characters.
 */
export interface HostStat {
  readonly cpus: Fields<typeof hostCpuType>[]
  readonly kernel: { [K in KernelField]?: Integer64 }
  readonly malformed: string | undefined
}

/** Fields of `host_kernel` that `/proc/stat` has. */
type KernelField = Exclude<keyof Fields<typeof hostKernelType>, 'release' | 'open_files' | 'open_files_limit'>

const KERNEL_FIELDS: Readonly<Record<string, KernelField>> = {
  btime: 'boot_time_seconds',
  procs_running: 'processes_running',
  procs_blocked: 'processes_blocked',
  ctxt: 'context_switches_total',
  intr: 'interrupts_total',
  processes: 'forks_total',
}
/**
 * The fields of the line `softirq`, in the order in which the kernel has printed them since 2.6.31. The sum is first.
 */
const SOFTIRQ_FIELDS: readonly (KernelField | '')[] = [
  '',
  'softirqs_hi_total',
  'softirqs_timer_total',
  'softirqs_net_tx_total',
  'softirqs_net_rx_total',
  'softirqs_block_total',
  'softirqs_block_iopoll_total',
  'softirqs_tasklet_total',
  'softirqs_sched_total',
  'softirqs_hrtimer_total',
  'softirqs_rcu_total',
]
const CPU_COLUMNS = 10
const CPU_LINE = /^cpu(\d+)$/

/** Reads `/proc/stat`. CPUs that are offline have no line. */
export function parseStat(bytes: Uint8Array): HostStat {
  const text = new KernelText(bytes)
  const cpus: Fields<typeof hostCpuType>[] = []
  const kernel: HostStat['kernel'] = {}
  let malformed: string | undefined
  for (; !text.done; text.nextLine()) {
    const start = text.at
    const word = text.word()
    const cpu = CPU_LINE.exec(word)?.[1]
    const field = Object.hasOwn(KERNEL_FIELDS, word) ? KERNEL_FIELDS[word] : undefined
    if (cpu !== undefined) {
      const times = readCpu(text, cpu)
      if (times !== undefined) {
        cpus.push(times)
        continue
      }
    } else if (field !== undefined) {
      const value = text.u64()
      if (isNumber(value)) {
        kernel[field] = value
        continue
      }
    } else if (word !== 'softirq' || readSoftirqs(text, kernel)) continue
    malformed ??= text.lineFrom(start)
  }
  return { cpus, kernel, malformed }
}

function readSoftirqs(text: KernelText, kernel: HostStat['kernel']): boolean {
  const found: HostStat['kernel'] = {}
  for (const field of SOFTIRQ_FIELDS) {
    const value = text.u64()
    if (!isNumber(value)) return false
    if (field !== '') found[field] = value
  }
  Object.assign(kernel, found)
  return true
}

function readCpu(text: KernelText, cpu: string): Fields<typeof hostCpuType> | undefined {
  const seconds: number[] = []
  for (let i = 0; i < CPU_COLUMNS; i++) {
    const ticks = text.u64()
    if (!isNumber(ticks)) return undefined
    seconds.push(Number(ticks) / TICKS_PER_SECOND)
  }
  const [
    user = 0,
    nice = 0,
    system = 0,
    idle = 0,
    iowait = 0,
    irq = 0,
    softirq = 0,
    steal = 0,
    guest = 0,
    guestNice = 0,
  ] = seconds
  return {
    cpu,
    user_seconds_total: user,
    nice_seconds_total: nice,
    system_seconds_total: system,
    idle_seconds_total: idle,
    iowait_seconds_total: iowait,
    irq_seconds_total: irq,
    softirq_seconds_total: softirq,
    steal_seconds_total: steal,
    guest_seconds_total: guest,
    guest_nice_seconds_total: guestNice,
  }
}

/** Values of `host_memory`. */
export type HostMemory = Fields<typeof hostMemoryType>

/** Name of each field in `/proc/meminfo`. */
export const MEMORY_FIELDS: ReadonlyMap<string, keyof HostMemory> = new Map([
  ['MemTotal', 'total_bytes'],
  ['MemFree', 'free_bytes'],
  ['MemAvailable', 'available_bytes'],
  ['Buffers', 'buffers_bytes'],
  ['Cached', 'cached_bytes'],
  ['Dirty', 'dirty_bytes'],
  ['Writeback', 'writeback_bytes'],
  ['AnonPages', 'anonymous_bytes'],
  ['Mapped', 'mapped_bytes'],
  ['Shmem', 'shared_bytes'],
  ['Slab', 'slab_bytes'],
  ['SReclaimable', 'slab_reclaimable_bytes'],
  ['KernelStack', 'kernel_stack_bytes'],
  ['PageTables', 'page_tables_bytes'],
  ['Mlocked', 'locked_bytes'],
  ['Committed_AS', 'committed_bytes'],
  ['CommitLimit', 'commit_limit_bytes'],
  ['SwapTotal', 'swap_total_bytes'],
  ['SwapFree', 'swap_free_bytes'],
  ['SwapCached', 'swap_cached_bytes'],
  ['HugePages_Total', 'huge_pages'],
  ['HugePages_Free', 'huge_pages_free'],
  ['HugePages_Rsvd', 'huge_pages_promised'],
  ['HugePages_Surp', 'huge_pages_surplus'],
  ['Hugepagesize', 'huge_page_size_bytes'],
  ['Hugetlb', 'hugetlb_bytes'],
  ['AnonHugePages', 'anonymous_huge_pages_bytes'],
  ['Unevictable', 'unevictable_bytes'],
  ['HardwareCorrupted', 'hardware_corrupted_bytes'],
])

/**
 * Reads `/proc/meminfo`. Its `kB` are 1 024 bytes. If a line cannot be read, its field is absent. MemTotal is required.
 */
export function parseMeminfo(bytes: Uint8Array): HostMemory | string {
  const memory = readMemory(bytes, MEMORY_FIELDS)
  const { total_bytes } = memory
  return total_bytes === undefined ? 'has no MemTotal' : { ...memory, total_bytes }
}

/** Reads the numbers of a `meminfo` by the words before them. Lines of a NUMA node start with `Node` and its number. */
export function readMemory<K extends string>(bytes: Uint8Array, fields: ReadonlyMap<string, K>): { [F in K]?: number } {
  const text = new KernelText(bytes)
  const memory: { [F in K]?: number } = {}
  for (; !text.done; text.nextLine()) {
    if (text.skip('Node ')) text.word()
    const field = fields.get(text.word().slice(0, -1))
    if (field === undefined) continue
    const value = text.u64()
    if (typeof value !== 'number') continue
    const unit = text.word()
    const whole = unit === 'kB' ? value * BYTES_PER_KIBIBYTE : value
    if ((unit === '' || unit === 'kB') && Number.isSafeInteger(whole)) memory[field] = whole
  }
  return memory
}

/** Totals of one file below `/proc/pressure`. A total is missing if the kernel has no such line. */
export type HostPressure = Pick<Fields<typeof hostPressureType>, 'waiting_seconds_total' | 'stalled_seconds_total'>

/** Reads a pressure file. `some` is the waiting time, `full` the stalled time; its totals are in microseconds. */
export function parsePressure(bytes: Uint8Array): HostPressure | string {
  const text = new KernelText(bytes)
  const pressure: HostPressure = {}
  for (; !text.done; text.nextLine()) {
    const kind = text.word()
    if (kind !== 'some' && kind !== 'full') continue
    const seconds = readTotal(text)
    if (seconds !== undefined) pressure[kind === 'some' ? 'waiting_seconds_total' : 'stalled_seconds_total'] = seconds
  }
  return Object.keys(pressure).length === 0 ? 'has no total' : pressure
}

function readTotal(text: KernelText): number | undefined {
  while (!text.lineDone()) {
    if (!text.skip('total=')) {
      text.word()
      continue
    }
    const total = text.u64()
    return isNumber(total) ? Number(total) / MICROSECONDS_PER_SECOND : undefined
  }
  return undefined
}

/** One line of `/proc/net/softnet_stat`. `cpu` is undefined for kernels before 5.10, which do not print it. */
export interface HostSoftnet {
  readonly cpu: string | undefined
  readonly processed_total: number
  readonly dropped_total: number
  readonly squeezed_total: number
}

const SOFTNET_CPU_COLUMN = 12

/** Reads `/proc/net/softnet_stat`: one line of hexadecimal columns for each CPU that is online. */
export function parseSoftnet(bytes: Uint8Array): HostSoftnet[] | string {
  const text = new KernelText(bytes)
  const lines: HostSoftnet[] = []
  for (; !text.done; text.nextLine()) {
    if (text.lineDone()) continue
    const columns: number[] = []
    while (!text.lineDone()) {
      const value = text.hex()
      if (!isNumber(value)) return 'holds a column that is not hexadecimal'
      columns.push(value)
    }
    const [processed, dropped, squeezed] = columns
    const cpu = columns[SOFTNET_CPU_COLUMN]
    if (processed === undefined || dropped === undefined || squeezed === undefined)
      return 'has a line with too few columns'
    lines.push({
      cpu: cpu === undefined ? undefined : String(cpu),
      processed_total: processed,
      dropped_total: dropped,
      squeezed_total: squeezed,
    })
  }
  return lines.length === 0 ? 'is empty' : lines
}

/** Reads `/proc/loadavg`. */
export function parseLoadavg(bytes: Uint8Array): Fields<typeof hostLoadType> | string {
  const text = new KernelText(bytes)
  const [load1, load5, load15] = [text.decimal(), text.decimal(), text.decimal()]
  const sound = isNumber(load1) && isNumber(load5) && isNumber(load15)
  return sound ? { load1, load5, load15 } : 'does not start with three numbers'
}

/** Reads the number of open file handles and its limit from `/proc/sys/fs/file-nr`. */
export function parseFileNr(bytes: Uint8Array): { open_files: Integer64; open_files_limit: Integer64 } | string {
  const text = new KernelText(bytes)
  const [open, , limit] = [text.u64(), text.u64(), text.u64()]
  return isNumber(open) && isNumber(limit)
    ? { open_files: open, open_files_limit: limit }
    : 'does not hold three numbers'
}
