import type { DocaDevice } from './device.ts'
import { DocaFailure } from './failure.ts'
import { GENERATION_MAX, MANAGEMENT_INFO, PERF_COUNTERS } from './pci-layout.ts'
import type { DocaSymbol } from './symbols.ts'

/** Buckets of a device at most. The memory has room for more, because a library may write more than it reported. */
const BUCKETS_MAX = 4096
const MEMORY_BUCKETS = BUCKETS_MAX + 512
const DIMENSIONS = 'doca_telemetry_pci_get_latency_histogram_dimensions'

/** Position of a PCIe link in a device, as `mlxlink --port_type PCIE --show_links` prints it: `depth.index.node`. */
export interface LinkPlace {
  readonly depth: number
  readonly index: number
  readonly node: number
}

/** A value that some devices do not support; undefined if the device does not know it. */
type Optional<T> = T | DocaFailure | undefined

/** State of a PCIe link. A value is undefined if the device does not know it. */
export interface PciLink {
  readonly generation: number | undefined
  readonly generationEnabled: number | undefined
  readonly peerGeneration: Optional<number>
  readonly lanes: number
  readonly lanesEnabled: number
  readonly payloadBytes: number
  readonly readRequestBytes: number
  readonly watts: Optional<number>
  readonly physicalFunctions: number
  readonly virtualFunctions: number
}

/** Counters of a PCIe link, of 32 bits except for the first two. */
export interface PciCounters {
  readonly overflowPackets: Optional<bigint>
  readonly overflowMarked: Optional<bigint>
  readonly rxErrors: number
  readonly txErrors: number
  readonly dllpErrors: number
  readonly tlpErrors: number
  readonly recoveries: number
  /** Shares of the last second. */
  readonly stalledReads: Optional<number>
  readonly stalledWrites: Optional<number>
  readonly stalledReadEvents: Optional<number>
  readonly stalledWriteEvents: Optional<number>
  readonly fecCorrectable: Optional<number>
  readonly fecUncorrectable: Optional<number>
  readonly effectiveRatio: number | undefined
  readonly fberRatio: Optional<number>
}

/** Completed reads by their latency. */
export interface PciLatency {
  /** Reads of each bucket. Bucket i starts at i widths; the last is open. */
  readonly counts: BigUint64Array
  /** Width of a bucket. Unit: nanoseconds. */
  readonly widthNs: number
}

const GROUPS = ['management_info', 'perf_counters_1', 'latency_histogram'] as const
type Group = (typeof GROUPS)[number]

/** Parts of the groups that a device may lack. A library writes zeros for them. */
const PARTS = [
  'management_info_power_reporting',
  'management_info_link_peer_max_speed',
  'perf_counters_1_tx_overflow',
  'perf_counters_1_outbound_stalled',
  'perf_counters_1_fec_error',
  'perf_counters_1_fber',
] as const
type Part = (typeof PARTS)[number]

/** The PCIe link of a device, by `doca_telemetry_pci`. A device may support only a part of it. */
export class PciPort {
  readonly #device: DocaDevice
  readonly #context: bigint
  /** The place in one register: the library takes a structure of three bytes by value. */
  readonly #place: number
  readonly #unsupported: ReadonlyMap<Group | Part, DocaFailure>
  readonly #buckets = new BigUint64Array(MEMORY_BUCKETS)

  private constructor(
    device: DocaDevice,
    context: bigint,
    place: LinkPlace,
    unsupported: ReadonlyMap<Group | Part, DocaFailure>,
  ) {
    this.#device = device
    this.#context = context
    this.#place = place.depth | (place.index << 8) | (place.node << 16)
    this.#unsupported = unsupported
  }

  /** @returns A failure if the device supports nothing of it. */
  static async open(device: DocaDevice, place: LinkPlace): Promise<PciPort | DocaFailure> {
    const unsupported = new Map<Group | Part, DocaFailure>()
    for (const name of [...GROUPS, ...PARTS]) {
      const failure = await device.call(`doca_telemetry_pci_cap_${name}_is_supported`, device.info)
      if (failure === undefined) continue
      if (failure.kind !== 'unsupported') return failure
      unsupported.set(name, failure)
    }
    const [first] = GROUPS
    const refused = unsupported.get(first)
    if (refused !== undefined && GROUPS.every((group) => unsupported.has(group))) return refused
    const context = await device.create('doca_telemetry_pci_create')
    if (context instanceof DocaFailure) return context
    const port = new PciPort(device, context, place, unsupported)
    const failure = await device.call('doca_telemetry_pci_start', context)
    if (failure === undefined) return port
    await port.close()
    return failure
  }

  /** Reads the state of the link. */
  link(): Promise<PciLink | DocaFailure> {
    return this.#read('management_info', (memory) => linkOf(memory, (part) => this.#unsupported.get(part)))
  }

  /** Reads the counters of the link. */
  counters(): Promise<PciCounters | DocaFailure> {
    return this.#read('perf_counters_1', (memory) => countersOf(memory, (part) => this.#unsupported.get(part)))
  }

  /** Reads the histogram of read latency. The same memory each time. Its buckets may differ from the last time. */
  async latency(): Promise<PciLatency | DocaFailure> {
    const refused = this.#unsupported.get('latency_histogram')
    if (refused !== undefined) return refused
    const device = this.#device
    const { cleared, second } = device.memory
    second.fill(0)
    const failure = await device.call(DIMENSIONS, this.#context, this.#place, cleared, second)
    if (failure !== undefined) return failure
    const [count, widthNs] = [device.memory.number, second.readUInt32LE()]
    if (count > BUCKETS_MAX) return new DocaFailure(device.name, DIMENSIONS, 'TOO_BIG')
    if (count < 2 || widthNs === 0) return new DocaFailure(device.name, DIMENSIONS, 'UNEXPECTED')
    const bytes = new Uint8Array(this.#buckets.buffer)
    const call = 'doca_telemetry_pci_read_latency_histogram'
    const unread = await device.call(call, this.#context, this.#place, bytes)
    return unread ?? { counts: this.#buckets.subarray(0, count), widthNs }
  }

  /** May be called twice. */
  async close(): Promise<void> {
    await this.#device.destroy(this.#context)
  }

  async #read<T>(group: 'management_info' | 'perf_counters_1', parse: (memory: Buffer) => T): Promise<T | DocaFailure> {
    const refused = this.#unsupported.get(group)
    if (refused !== undefined) return refused
    const call: DocaSymbol = `doca_telemetry_pci_read_${group}`
    const memory = await this.#device.structure(call, this.#context, this.#place)
    return memory instanceof DocaFailure ? memory : parse(memory)
  }
}

function linkOf(memory: Buffer, refusalOf: (part: Part) => DocaFailure | undefined): PciLink {
  const number = (at: number) => memory.readUInt32LE(at)
  const generationAt = (at: number) => {
    const generation = number(at)
    return generation >= 1 && generation <= GENERATION_MAX ? generation : undefined
  }
  // 0 W means that the power is unknown.
  const watts = memory.readUInt16LE(MANAGEMENT_INFO.watts) || undefined
  return {
    generation: generationAt(MANAGEMENT_INFO.generation),
    generationEnabled: generationAt(MANAGEMENT_INFO.generationEnabled),
    peerGeneration: refusalOf('management_info_link_peer_max_speed') ?? generationAt(MANAGEMENT_INFO.peerGeneration),
    lanes: number(MANAGEMENT_INFO.width),
    lanesEnabled: number(MANAGEMENT_INFO.widthEnabled),
    payloadBytes: number(MANAGEMENT_INFO.payloadBytes),
    readRequestBytes: number(MANAGEMENT_INFO.readRequestBytes),
    watts: refusalOf('management_info_power_reporting') ?? watts,
    physicalFunctions: memory.readUInt16LE(MANAGEMENT_INFO.physicalFunctions),
    virtualFunctions: memory.readUInt16LE(MANAGEMENT_INFO.virtualFunctions),
  }
}

function countersOf(memory: Buffer, refusalOf: (part: Part) => DocaFailure | undefined): PciCounters {
  const number = (at: number) => memory.readUInt32LE(at)
  const [noOverflow, noStalled] = [
    refusalOf('perf_counters_1_tx_overflow'),
    refusalOf('perf_counters_1_outbound_stalled'),
  ]
  const noFec = refusalOf('perf_counters_1_fec_error')
  return {
    overflowPackets: noOverflow ?? memory.readBigUInt64LE(PERF_COUNTERS.overflowPackets),
    overflowMarked: noOverflow ?? memory.readBigUInt64LE(PERF_COUNTERS.overflowMarked),
    rxErrors: number(PERF_COUNTERS.rxErrors),
    txErrors: number(PERF_COUNTERS.txErrors),
    dllpErrors: number(PERF_COUNTERS.dllpErrors),
    tlpErrors: number(PERF_COUNTERS.tlpErrors),
    recoveries: number(PERF_COUNTERS.recoveries),
    stalledReads: noStalled ?? number(PERF_COUNTERS.stalledReads) / 100,
    stalledWrites: noStalled ?? number(PERF_COUNTERS.stalledWrites) / 100,
    stalledReadEvents: noStalled ?? number(PERF_COUNTERS.stalledReadEvents),
    stalledWriteEvents: noStalled ?? number(PERF_COUNTERS.stalledWriteEvents),
    fecCorrectable: noFec ?? number(PERF_COUNTERS.fecCorrectable),
    fecUncorrectable: noFec ?? number(PERF_COUNTERS.fecUncorrectable),
    effectiveRatio: ratioAt(memory, PERF_COUNTERS.effectiveRatio),
    fberRatio: refusalOf('perf_counters_1_fber') ?? ratioAt(memory, PERF_COUNTERS.fberRatio),
  }
}

/** The magnitude comes first, unlike in the structures of ports. A ratio is only valid if neither part is 0. */
function ratioAt(memory: Buffer, at: number): number | undefined {
  const [magnitude, coefficient] = [memory.readUInt8(at), memory.readUInt8(at + 1)]
  return coefficient === 0 || magnitude === 0 ? undefined : Number(`${coefficient}e-${magnitude}`)
}
