import type { DocaDevice } from './device.ts'
import { DocaFailure } from './failure.ts'
import { BIN_WIDTH_MODE, TIME_UNITS } from './layout.ts'
import type { Argument } from './library.ts'

/** Bins of one device at most; a library that tells of more is not asked for them. */
const BINS_MAX = 4096
/** Capacity for bins: the library writes all bins of the device, even if fewer were requested or reported. */
const MEMORY_BINS = BINS_MAX + 512
const WIDTH_MAX = 65_535
/** Readings from one question whether somebody changed the bins to the next, while nothing is counted. */
const CHANGE_READS = 10
/** Readings in a row during which somebody changes the bins; then the reading fails. */
const TRIES_MAX = 3
const MAX_BINS = 'doca_telemetry_adp_retx_cap_get_hist_max_bins'

/** How the durations of timeouts are sorted into bins. */
export interface HistogramShape {
  readonly bins: number
  /** Width of the first bin, and of the second. Unit: `unitSeconds`. */
  readonly bin0Width: number
  readonly bin1Width: number
  /** Whether each further bin is twice as wide as the one before, instead of as wide. */
  readonly doubles: boolean
  /** Range: 1e-9, 1e-6, 1e-4 or 1e-3. */
  readonly unitSeconds: number
}

/** Capabilities of a device. */
export interface HistogramLimits {
  readonly maxBins: number
  /** Units that it can count in. Unit: seconds. */
  readonly unitsSeconds: readonly number[]
}

/** Upper edges of all bins but the last, which is open. Unit: seconds. */
export function edgesOf({ bins, bin0Width, bin1Width, doubles, unitSeconds }: HistogramShape): number[] {
  const edges: number[] = []
  let [edge, width] = [bin0Width, bin1Width]
  // Whole units in a second: a division gives the nearest number, where a product would leave 0.00030000000000000003.
  const units = Math.round(1 / unitSeconds)
  for (let bin = 1; bin < bins; bin++) {
    edges.push(edge / units)
    edge += width
    if (doubles) width *= 2
  }
  return edges
}

/** The capabilities of a device; a failure if it has no such histogram. */
export async function histogramLimits(device: DocaDevice): Promise<HistogramLimits | DocaFailure> {
  const { info } = device
  const refused = await device.callAll([
    ['doca_telemetry_adp_retx_cap_is_supported', info],
    ['doca_telemetry_adp_retx_cap_histogram_is_supported', info],
  ])
  if (refused !== undefined) return refused
  const maxBins = await device.number(MAX_BINS, info)
  if (maxBins instanceof DocaFailure) return maxBins
  const bits = await device.number('doca_telemetry_adp_retx_cap_get_hist_time_units', info)
  if (bits instanceof DocaFailure) return bits
  if (maxBins > BINS_MAX) return new DocaFailure(device.name, MAX_BINS, 'TOO_BIG')
  const unitsSeconds = TIME_UNITS.filter(({ bit }) => (bits & bit) !== 0).map(({ seconds }) => seconds)
  return { maxBins, unitsSeconds }
}

/** The histogram of a device. It counts only while it is open, so it stays open between readings. */
export class AdpRetxHistogram {
  /** As the device says it; another object when somebody changed it. */
  shape: HistogramShape
  readonly #device: DocaDevice
  readonly #context: bigint
  readonly #memory = new BigUint64Array(MEMORY_BINS)
  readonly #maxBins: number
  #isChanged = false
  /** The bins of the last reading. */
  #last = new BigUint64Array()
  #reads = 0

  private constructor(device: DocaDevice, context: bigint, shape: HistogramShape, maxBins: number) {
    this.#device = device
    this.#context = context
    this.shape = shape
    this.#maxBins = maxBins
  }

  /** Begins to count, in a shape that the device can do. */
  static async open(
    device: DocaDevice,
    wanted: HistogramShape,
    maxBins: number,
  ): Promise<AdpRetxHistogram | DocaFailure> {
    const context = await device.create('doca_telemetry_adp_retx_create')
    if (context instanceof DocaFailure) return context
    const histogram = new AdpRetxHistogram(device, context, wanted, maxBins)
    const shape = (await histogram.#start(wanted)) ?? (await histogram.#readShape())
    if (shape instanceof DocaFailure) {
      await histogram.close()
      return shape
    }
    histogram.shape = shape
    return histogram
  }

  /**
   * Reads the bins that another program has configured, without changing them. Undefined if none has.
   */
  static async configured(device: DocaDevice, maxBins: number): Promise<HistogramShape | DocaFailure | undefined> {
    const context = await device.create('doca_telemetry_adp_retx_create')
    if (context instanceof DocaFailure) return context
    const none = { bins: 0, bin0Width: 0, bin1Width: 0, doubles: false, unitSeconds: 0 }
    const histogram = new AdpRetxHistogram(device, context, none, maxBins)
    const shape = await histogram.#readShape()
    await histogram.close()
    // Bins that cannot be are those of nobody.
    return shape instanceof DocaFailure && shape.name === 'UNEXPECTED' ? undefined : shape
  }

  /**
   * Reads the bins: as many as the shape has. The same memory each time. The shape is another object where somebody has
   * changed it: then all bins began anew.
   */
  async read(): Promise<BigUint64Array | DocaFailure> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const bins = await this.#readBins()
      if (bins instanceof DocaFailure) return bins
      // Another program may have changed the bins before they were read, and then each counts something else. The call
      // costs as much as the rest of a reading, so it is left out while nothing is counted.
      const isDue = this.#isChanged || !isSame(bins, this.#last) || this.#reads++ % CHANGE_READS === 0
      const isOther = isDue ? await this.#follow() : false
      if (isOther instanceof DocaFailure) return isOther
      if (!isOther) {
        this.#last = bins.slice()
        return bins
      }
    }
    return new DocaFailure(this.#device.name, 'doca_telemetry_adp_retx_detect_hist_conf_change', 'UNEXPECTED')
  }

  /** Follows bins that somebody has changed; whether somebody has. */
  async #follow(): Promise<boolean | DocaFailure> {
    const changed = await this.#device.number('doca_telemetry_adp_retx_detect_hist_conf_change', this.#context)
    // An installation without this call cannot tell.
    if (changed instanceof DocaFailure && changed.name !== 'NO_SYMBOL') return changed
    // The device says so once: until the new shape is known nothing is read by the old one.
    if (typeof changed === 'number' && (changed & 0xff) !== 0) this.#isChanged = true
    if (!this.#isChanged) return false
    const shape = await this.#readShape()
    if (shape instanceof DocaFailure) return shape
    this.shape = shape
    this.#isChanged = false
    return true
  }

  async #readBins(): Promise<BigUint64Array | DocaFailure> {
    const device = this.#device
    const bytes = new Uint8Array(this.#memory.buffer)
    const call = 'doca_telemetry_adp_retx_read_hist_bins'
    const failure = await device.call(call, this.#context, device.memory.cleared, bytes)
    if (failure !== undefined) return failure
    // A library that tells of more bins than there are is not followed.
    return this.#memory.subarray(0, this.shape.bins)
  }

  /** Stops counting. May be called twice. */
  async close(): Promise<void> {
    await this.#device.destroy(this.#context)
  }

  async #start({ bins, bin0Width, bin1Width, doubles, unitSeconds }: HistogramShape): Promise<DocaFailure | undefined> {
    const context = this.#context
    const unit = TIME_UNITS.find(({ seconds }) => seconds === unitSeconds)?.bit ?? 0
    const mode = doubles ? BIN_WIDTH_MODE.DOUBLE : BIN_WIDTH_MODE.FIXED
    const calls = [
      ['doca_telemetry_adp_retx_set_hist_time_unit', context, unit],
      ['doca_telemetry_adp_retx_set_hist_num_bins', context, bins],
      ['doca_telemetry_adp_retx_set_hist_bin0_width', context, Math.min(bin0Width, WIDTH_MAX)],
      ['doca_telemetry_adp_retx_set_hist_bin1_width', context, Math.min(bin1Width, WIDTH_MAX)],
      ['doca_telemetry_adp_retx_set_hist_bin_width_mode', context, mode],
      ['doca_telemetry_adp_retx_unset_hist_vhca_id', context],
      // Others may read the same histogram.
      ['doca_telemetry_adp_retx_set_hist_clear_on_read', context, 0],
      ['doca_telemetry_adp_retx_set_hist_count_enable', context, 1],
      ['doca_telemetry_adp_retx_start', context],
    ] as const satisfies readonly (readonly [string, ...Argument[]])[]
    return this.#device.callAll(calls)
  }

  async #readShape(): Promise<HistogramShape | DocaFailure> {
    const device = this.#device
    const numbers: number[] = []
    for (const name of ['num_bins', 'bin0_width', 'bin1_width', 'bin_width_mode', 'time_unit'] as const) {
      const number = await device.number(`doca_telemetry_adp_retx_get_hist_${name}`, this.#context)
      if (number instanceof DocaFailure) return number
      numbers.push(number)
    }
    const [bins = 0, bin0Width = 0, bin1Width = 0, mode = 0, bit = 0] = numbers
    const unit = TIME_UNITS.find((one) => one.bit === bit)
    const isSound = bins >= 2 && bins <= this.#maxBins && bin0Width > 0 && bin1Width > 0 && unit !== undefined
    if (!isSound) return new DocaFailure(device.name, 'doca_telemetry_adp_retx_get_hist_num_bins', 'UNEXPECTED')
    const shape = { bins, bin0Width, bin1Width, doubles: mode === BIN_WIDTH_MODE.DOUBLE, unitSeconds: unit.seconds }
    // Widths that double often enough grow out of all numbers.
    if (Number.isFinite(edgesOf(shape).at(-1))) return shape
    return new DocaFailure(device.name, 'doca_telemetry_adp_retx_get_hist_num_bins', 'UNEXPECTED')
  }
}

function isSame(one: BigUint64Array, other: BigUint64Array): boolean {
  return one.length === other.length && one.every((count, bin) => count === other[bin])
}
