import type { RecordOf } from '@sonde/sdk'
import type { Integer64 } from '@sonde/sdk/internal'
import { isNumber, KernelText } from '../kernel-text.ts'
import { readMemory } from './parse.ts'
import type { hostNumaType, hostVmType } from './type.ts'

/** Values of `host_vm`. */
export type HostVm = Omit<RecordOf<typeof hostVmType>, 'time'>

const VM_FIELDS: ReadonlyMap<string, keyof HostVm> = new Map([
  ['pgfault', 'page_faults_total'],
  ['pgmajfault', 'major_page_faults_total'],
  ['pswpin', 'swapped_in_pages_total'],
  ['pswpout', 'swapped_out_pages_total'],
  ['oom_kill', 'oom_kills_total'],
  ['pgscan_direct', 'direct_scanned_pages_total'],
  ['pgsteal_direct', 'direct_reclaimed_pages_total'],
  ['compact_stall', 'compaction_stalls_total'],
  ['compact_fail', 'compaction_failures_total'],
  ['thp_fault_alloc', 'huge_page_faults_total'],
  ['thp_fault_fallback', 'huge_page_fallbacks_total'],
  ['numa_hint_faults', 'numa_hint_faults_total'],
  ['numa_pages_migrated', 'numa_migrated_pages_total'],
])
/** Newer kernels have one counter for each memory zone; kernels before 4.10 have a single counter. */
const STALLS = /^allocstall(_\w+)?$/

/** Reads `/proc/vmstat`: a name and a number in each line. */
export function parseVmstat(bytes: Uint8Array): HostVm | string {
  const text = new KernelText(bytes)
  const vm: HostVm = {}
  let stalls: number | undefined
  for (; !text.done; text.nextLine()) {
    const name = text.word()
    const field = VM_FIELDS.get(name)
    const isStall = STALLS.test(name)
    if (field === undefined && !isStall) continue
    const value = text.u64()
    if (!isNumber(value)) continue
    if (field !== undefined) vm[field] = value
    else stalls = (stalls ?? 0) + Number(value)
  }
  if (stalls !== undefined) vm.allocation_stalls_total = stalls
  return Object.keys(vm).length === 0 ? 'has none of the counters' : vm
}

/** Values of `host_numa` without its label. */
export type HostNuma = Omit<RecordOf<typeof hostNumaType>, 'time' | 'numa_node'>

const NODE_FIELDS: ReadonlyMap<string, keyof HostNuma> = new Map([
  ['MemTotal', 'total_bytes'],
  ['MemFree', 'free_bytes'],
  ['FilePages', 'file_bytes'],
  ['AnonPages', 'anonymous_bytes'],
  ['HugePages_Total', 'huge_pages'],
  ['HugePages_Free', 'huge_pages_free'],
])

/** Reads `meminfo` of a NUMA node: lines such as `Node 0 MemTotal: 8743128 kB`. */
export function parseNodeMeminfo(bytes: Uint8Array): HostNuma | string {
  const memory = readMemory(bytes, NODE_FIELDS)
  return memory.total_bytes === undefined ? 'has no MemTotal' : memory
}

const NUMASTAT_FIELDS: ReadonlyMap<string, keyof HostNuma> = new Map([
  ['numa_hit', 'hit_pages_total'],
  ['numa_miss', 'miss_pages_total'],
  ['numa_foreign', 'foreign_pages_total'],
  ['interleave_hit', 'interleaved_pages_total'],
  ['local_node', 'local_pages_total'],
  ['other_node', 'other_pages_total'],
])

/** Reads `numastat` of a NUMA node: a name and a number of pages in each line. */
export function parseNumastat(bytes: Uint8Array): HostNuma | string {
  const text = new KernelText(bytes)
  const pages: { [K in keyof HostNuma]: Integer64 } = {}
  for (; !text.done; text.nextLine()) {
    const field = NUMASTAT_FIELDS.get(text.word())
    const value = field === undefined ? 'empty' : text.u64()
    if (field !== undefined && isNumber(value)) pages[field] = value
  }
  return Object.keys(pages).length === 0 ? 'has no counter of pages' : pages
}
