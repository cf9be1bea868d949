const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
const INTEGER_LIMIT = 2 ** 52

/** Largest number of decimal places that is tried. */
export const DECIMALS_MAX = POWERS.length - 1

/**
 * The number of decimal places that makes every value an integer, or -1 if there is none. Instruments report watts to
 * the milliwatt and ratios to six places. As integers such values pack several times smaller than as the bits of a
 * float. NaN, infinities and negative zero have no integer.
 */
export function decimalsOf(values: Float64Array | Float32Array): number {
  const narrow = values instanceof Float32Array
  let decimals = 0
  for (const value of values) {
    while (!isScaled(value, decimals, narrow)) {
      if (++decimals > DECIMALS_MAX) return -1
    }
  }
  return decimals
}

/**
 * Writes `value * 10^decimals` of each value as low and high words. Returns false if a value is not an integer after
 * all.
 */
export function scaleUp(values: Float64Array | Float32Array, decimals: number, words: Uint32Array): boolean {
  const power = POWERS[decimals] ?? 1
  const narrow = values instanceof Float32Array
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? 0
    if (!isScaled(value, decimals, narrow)) return false
    const scaled = Math.round(value * power)
    words[2 * i] = scaled
    words[2 * i + 1] = Math.floor(scaled / 4294967296)
  }
  return true
}

/** The reverse: the value of an integer with `decimals` places. */
export function scaleDown(low: number, high: number, decimals: number): number {
  return ((high | 0) * 4294967296 + low) / (POWERS[decimals] ?? 1)
}

function isScaled(value: number, decimals: number, narrow: boolean): boolean {
  const power = POWERS[decimals] ?? 1
  const scaled = Math.round(value * power)
  if (!(scaled > -INTEGER_LIMIT && scaled < INTEGER_LIMIT)) return false
  const back = narrow ? Math.fround(scaled / power) : scaled / power
  // -0 equals 0 and would be read back as 0; only its reciprocal differs.
  return back === value && (value !== 0 || 1 / value > 0)
}
