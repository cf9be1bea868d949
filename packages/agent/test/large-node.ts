import { type RecordType, wallNs } from '@sonde/sdk'
import * as v from 'valibot'
import { hostCpuType, hostDiskType, hostFilesystemType } from '../src/sources/host/type.ts'
import { netdevType } from '../src/sources/netdev/type.ts'
import { nvmlGpuInfoType, nvmlGpuType, nvmlProfileType } from '../src/sources/nvml/type.ts'
import { sampled } from '../src/sources/sampled.ts'
import type { SourceDefinition } from '../src/sources/source.ts'

/** How many things a large node has, and how many of them do something. */
export const LARGE = {
  interfaces: { count: 200, busyCount: 37 },
  gpus: { count: 64, busyCount: 54 },
  disks: { count: 400, busyCount: 30 },
  filesystems: { count: 60 },
  cpus: { count: 128, busyCount: 20 },
} as const

/** The interface that counts errors, the idle one that drops packets, and the file system that is full. */
export const SICK = { errors: 'eth137', drops: 'eth199', full: '/data/41' } as const

const TYPES: readonly RecordType[] = [
  netdevType,
  nvmlGpuInfoType,
  nvmlGpuType,
  nvmlProfileType,
  hostCpuType,
  hostDiskType,
  hostFilesystemType,
]
const GIB = 2n ** 30n

/** Whether the thing at a place is among the busy ones, which are spread over all. */
function isBusy(at: number, { count, busyCount }: { readonly count: number; readonly busyCount: number }): boolean {
  return Math.floor(((at + 1) * busyCount) / count) > Math.floor((at * busyCount) / count)
}

/** How much the thing at a place does: more at higher places, and the same at each time. */
function paceOf(at: number, counts: { readonly count: number; readonly busyCount: number }): number {
  return isBusy(at, counts) ? (at + 1) / counts.count : 0
}

/** What a node has; for comparisons it may have fewer interfaces, and nothing else. */
interface LargeNodeOptions {
  readonly interfaceCount: number
  readonly hasOthers: boolean
}

/** A source of a node with hundreds of interfaces and disks. */
export function largeNode(
  intervalMs: number,
  { interfaceCount, hasOthers }: LargeNodeOptions = { interfaceCount: LARGE.interfaces.count, hasOthers: true },
): SourceDefinition {
  const busyCount = Math.ceil((interfaceCount * LARGE.interfaces.busyCount) / LARGE.interfaces.count)
  const interfaces = { count: interfaceCount, busyCount }
  return {
    name: 'large_node',
    summary: 'Reports a node with hundreds of interfaces and disks',
    types: TYPES,
    host: 'agent',
    intervalMs,
    options: v.strictObject({}),
    load: async () => ({
      create: (_options, context) =>
        sampled(
          {
            probe: () => ({ state: 'present', found: 'a large node' }),
            sample: () => {
              const put = (type: RecordType, values: Readonly<Record<string, unknown>>) =>
                context.source.report(type, recordOf(type, values) as never)
              reportInterfaces(put, interfaces)
              if (hasOthers) reportOthers(put)
            },
            close: () => undefined,
          },
          context,
        ),
    }),
  }
}

type Put = (type: RecordType, values: Readonly<Record<string, unknown>>) => void

function reportInterfaces(put: Put, counts: { readonly count: number; readonly busyCount: number }): void {
  for (let at = 0; at < counts.count; at++) {
    const device = `eth${at}`
    const bytes = risen(1e9 * paceOf(at, counts))
    put(netdevType, {
      device,
      ...{ rx_bytes_total: bytes, tx_bytes_total: bytes / 2n, rx_packets_total: bytes / 1_000n },
      ...{ tx_packets_total: bytes / 2_000n, up: 1, carrier: 1, speed_bytes_per_second: 12_500_000_000n },
      rx_errors_total: device === SICK.errors ? risen(50) : 0n,
      rx_dropped_total: device === SICK.drops ? risen(20) : 0n,
    })
  }
}

function reportOthers(put: Put): void {
  for (let at = 0; at < LARGE.gpus.count; at++) {
    const pace = paceOf(at, LARGE.gpus)
    const labels = { gpu: String(at), UUID: `GPU-${at}`, modelName: 'NVIDIA H100 80GB HBM3' }
    put(nvmlGpuInfoType, { ...labels, device_file: `nvidia${at}`, driver: '570.86' })
    put(nvmlGpuType, { ...labels, gpu_util: pace > 0 ? 97 : 0, power_usage: 100 + 500 * pace, gpu_temp: 55 })
    put(nvmlProfileType, { ...labels, sm_active: pace * 0.9, pipe_tensor_active: pace * 0.4 })
  }
  for (let at = 0; at < LARGE.disks.count; at++) {
    const pace = paceOf(at, LARGE.disks)
    put(hostDiskType, {
      disk: `nvme${at}n1`,
      ...{
        reads_total: risen(pace * 1_000),
        read_bytes_total: risen(pace * 1e8),
        read_seconds_total: seconds(pace / 9),
      },
      io_seconds_total: seconds(pace * 0.9),
    })
  }
  for (let at = 0; at < LARGE.filesystems.count; at++) {
    const mountpoint = `/data/${at}`
    const free = mountpoint === SICK.full ? GIB : (BigInt(100 + at) * GIB) / 2n
    put(hostFilesystemType, {
      ...{ mountpoint, fstype: 'xfs', size_bytes: 200n * GIB, free_bytes: free, available_bytes: free },
      ...{ files: 1_000_000n, files_free: 900_000n, mounted: `/dev/nvme${at}n1` },
    })
  }
  for (let at = 0; at < LARGE.cpus.count; at++) {
    const pace = paceOf(at, LARGE.cpus)
    put(hostCpuType, { cpu: String(at), user_seconds_total: seconds(pace), idle_seconds_total: seconds(1 - pace) })
  }
}

/** A counter that rises by so much a second. */
function risen(perSecond: number): bigint {
  return BigInt(Math.floor(seconds(perSecond)))
}

function seconds(share: number): number {
  return (performance.now() / 1_000) * share
}

/** Fields that are not given are empty, 0 or absent. */
function recordOf(type: RecordType, values: Readonly<Record<string, unknown>>): object {
  const record: Record<string, unknown> = { time: wallNs() }
  for (const { name, field } of type.layout.slots) {
    if (field.role === 'timestamp') continue
    if (name in values) record[name] = values[name]
    else if (!field.optional) record[name] = field.kind === 'symbol' ? '' : field.kind === 'u64' ? 0n : 0
  }
  return record
}
