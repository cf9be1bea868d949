import type { DocaDevice } from './device.ts'
import { DocaFailure } from './failure.ts'
import {
  COUNTER_INFO,
  ETHERNET_SPEEDS,
  FEC_MODES,
  INFINIBAND_SPEEDS,
  MODULE_INFO,
  MODULE_LANES_MAX,
  MODULE_TEXT_BYTES,
  OPERATION_INFO,
  PROTOCOL,
  UP_STATES,
} from './phy-layout.ts'

const BYTES_PER_MEGABIT = 125_000
const LANE_BYTES = { counter: 8, ratio: 2, float: 4 } as const

/** State of the link of a port. */
export interface LinkState {
  readonly isUp: boolean
  /** Undefined if the link is down, or if the number is unknown. Unit: bytes per second. */
  readonly bytesPerSecond: number | undefined
  /** Undefined if the link is down. */
  readonly lanes: number | undefined
  /** Forward error correction in words; empty if the number is unknown. */
  readonly fec: string
}

/** Counters of a port. A ratio is undefined if the device gives none. */
export interface LinkCounters {
  readonly linkDowns: number
  readonly recoveries: number
  /** On InfiniBand only. */
  readonly symbolErrors: bigint | undefined
  readonly symbolRatio: number | undefined
  readonly effectiveErrors: bigint
  readonly effectiveRatio: number | undefined
  readonly rawRatio: number | undefined
  readonly lanes: readonly { readonly errors: bigint; readonly ratio: number | undefined }[]
}

/** Cable or module of a port. A value is undefined if the module has no such sensor. */
export interface ModuleState {
  readonly vendor: string
  readonly partNumber: string
  readonly serial: string
  readonly celsius: number | undefined
  readonly highCelsius: number | undefined
  readonly volts: number | undefined
  readonly roundTripSeconds: number | undefined
  readonly lanes: readonly ModuleLane[]
}

/** Optics of a lane. */
export interface ModuleLane {
  readonly txBiasAmperes: number | undefined
  readonly txPowerDbm: number | undefined
  readonly rxPowerDbm: number | undefined
  readonly snrMediaDb: number | undefined
  readonly hasLostSignal: boolean
}

const READINGS = ['operation_info', 'counter_and_ber_info', 'module_info'] as const
type Reading = (typeof READINGS)[number]

/** The physical port of a device, by `doca_telemetry_phy`. A device may support only some of its readings. */
export class PhyPort {
  readonly #device: DocaDevice
  readonly #context: bigint
  /** Readings that the device does not support. Without this check a library may write zeros. */
  readonly #unsupported: ReadonlyMap<Reading, DocaFailure>

  private constructor(device: DocaDevice, context: bigint, unsupported: ReadonlyMap<Reading, DocaFailure>) {
    this.#device = device
    this.#context = context
    this.#unsupported = unsupported
  }

  /** Opens the port of a device. */
  static async open(device: DocaDevice): Promise<PhyPort | DocaFailure> {
    const refused = await device.call('doca_telemetry_phy_cap_is_supported', device.info)
    if (refused !== undefined) return refused
    const unsupported = new Map<Reading, DocaFailure>()
    for (const reading of READINGS) {
      const failure = await device.call(`doca_telemetry_phy_cap_${reading}_is_supported`, device.info)
      if (failure === undefined) continue
      if (failure.kind !== 'unsupported') return failure
      unsupported.set(reading, failure)
    }
    const context = await device.create('doca_telemetry_phy_create')
    if (context instanceof DocaFailure) return context
    const port = new PhyPort(device, context, unsupported)
    const failure = await device.call('doca_telemetry_phy_start', context)
    if (failure === undefined) return port
    await port.close()
    return failure
  }

  /** Reads the state of the link. */
  link(): Promise<LinkState | DocaFailure> {
    return this.#read('operation_info', linkOf)
  }

  /** Reads the counters and the bit error ratios. */
  counters(): Promise<LinkCounters | DocaFailure> {
    return this.#read('counter_and_ber_info', countersOf)
  }

  /** Reads the cable or module. This is slow, because modules answer over a slow bus. */
  module(): Promise<ModuleState | DocaFailure> {
    return this.#read('module_info', moduleOf)
  }

  /** May be called twice. */
  async close(): Promise<void> {
    await this.#device.destroy(this.#context)
  }

  async #read<T>(reading: Reading, parse: (memory: Buffer) => T): Promise<T | DocaFailure> {
    const refused = this.#unsupported.get(reading)
    if (refused !== undefined) return refused
    const memory = await this.#device.structure(`doca_telemetry_phy_get_${reading}`, this.#context)
    return memory instanceof DocaFailure ? memory : parse(memory)
  }
}

function linkOf(memory: Buffer): LinkState {
  const number = (at: number) => memory.readUInt32LE(at)
  const isUp = UP_STATES.includes(number(OPERATION_INFO.state))
  const lanes = memory.readUInt8(OPERATION_INFO.width)
  const isInfiniBand = number(OPERATION_INFO.protocol) === PROTOCOL.IB
  const speeds = isInfiniBand ? INFINIBAND_SPEEDS : ETHERNET_SPEEDS
  const megabits = speeds.get(number(OPERATION_INFO.speed))
  // Ethernet names the speed of the port, InfiniBand that of a lane.
  const perPort = megabits === undefined ? undefined : megabits * (isInfiniBand ? lanes : 1) * BYTES_PER_MEGABIT
  return {
    isUp,
    bytesPerSecond: isUp ? perPort : undefined,
    lanes: isUp ? lanes : undefined,
    fec: FEC_MODES[number(OPERATION_INFO.fec)] ?? '',
  }
}

function countersOf(memory: Buffer): LinkCounters {
  const { rawErrors, rawRatios } = COUNTER_INFO
  const isInfiniBand = memory.readUInt32LE(COUNTER_INFO.protocol) === PROTOCOL.IB
  const lanes = lanesOf(memory.readUInt8(COUNTER_INFO.lanes), (lane) => ({
    errors: memory.readBigUInt64LE(rawErrors + LANE_BYTES.counter * lane),
    ratio: ratioAt(memory, rawRatios + LANE_BYTES.ratio * lane),
  }))
  return {
    linkDowns: memory.readUInt32LE(COUNTER_INFO.linkDowns),
    recoveries: memory.readUInt32LE(COUNTER_INFO.recoveries),
    symbolErrors: isInfiniBand ? memory.readBigUInt64LE(COUNTER_INFO.symbolErrors) : undefined,
    symbolRatio: isInfiniBand ? ratioAt(memory, COUNTER_INFO.symbolRatio) : undefined,
    effectiveErrors: memory.readBigUInt64LE(COUNTER_INFO.effectiveErrors),
    effectiveRatio: ratioAt(memory, COUNTER_INFO.effectiveRatio),
    rawRatio: ratioAt(memory, COUNTER_INFO.rawRatio),
    lanes,
  }
}

function moduleOf(memory: Buffer): ModuleState {
  const hasDiagnostics = memory.readUInt8(MODULE_INFO.hasDiagnostics) !== 0
  // A sensor is there if the module has diagnostics, and a threshold.
  const sensor = (value: number, high: number, parts = 1) => (hasDiagnostics && high !== 0 ? value / parts : undefined)
  const high = (at: number) => memory.readFloatLE(at)
  const lane = (at: number, number: number) => memory.readFloatLE(at + LANE_BYTES.float * number)
  const celsius = memory.readInt16LE(MODULE_INFO.temperatureHigh)
  const lost = memory.readUInt8(MODULE_INFO.rxLos)
  return {
    vendor: textAt(memory, MODULE_INFO.vendor),
    partNumber: textAt(memory, MODULE_INFO.partNumber),
    serial: textAt(memory, MODULE_INFO.serial),
    celsius: sensor(memory.readInt16LE(MODULE_INFO.temperature), celsius),
    highCelsius: sensor(celsius, celsius),
    volts: sensor(memory.readUInt16LE(MODULE_INFO.voltage), memory.readUInt16LE(MODULE_INFO.voltageHigh), 1000),
    roundTripSeconds: known(memory.readFloatLE(MODULE_INFO.roundTrip) / 1e9),
    lanes: lanesOf(memory.readUInt8(MODULE_INFO.lanes), (number) => ({
      txBiasAmperes: sensor(lane(MODULE_INFO.txBias, number), high(MODULE_INFO.txBiasHigh), 1000),
      txPowerDbm: sensor(lane(MODULE_INFO.txPower, number), high(MODULE_INFO.txPowerHigh)),
      rxPowerDbm: sensor(lane(MODULE_INFO.rxPower, number), high(MODULE_INFO.rxPowerHigh)),
      snrMediaDb: known(lane(MODULE_INFO.snrMedia, number)),
      hasLostSignal: ((lost >> number) & 1) === 1,
    })),
  }
}

function lanesOf<T>(count: number, laneOf: (lane: number) => T): T[] {
  return Array.from({ length: Math.min(count, MODULE_LANES_MAX) }, (_, lane) => laneOf(lane))
}

/** A ratio is only valid if neither of its parts is 0. */
function ratioAt(memory: Buffer, at: number): number | undefined {
  const [coefficient, magnitude] = [memory.readUInt8(at), memory.readUInt8(at + 1)]
  return coefficient === 0 || magnitude === 0 ? undefined : Number(`${coefficient}e-${magnitude}`)
}

function known(value: number): number | undefined {
  return value === 0 ? undefined : value
}

function textAt(memory: Buffer, at: number): string {
  const bytes = memory.subarray(at, at + MODULE_TEXT_BYTES)
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end).trim()
}
