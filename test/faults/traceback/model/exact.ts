/** A value of a signal: a whole number of 64 bits, exactly, or any other number. */
export type Value = bigint | number

/** How a quotient compares with a threshold. */
export interface Comparison {
  /** Below 0, 0 or above 0, as the quotient is below the threshold, equal or above. Exact. */
  readonly order: number
  /** It differs by so little that arithmetic of 53 bits may tell otherwise. */
  readonly isNear: boolean
}

/** Parts of the threshold below which a difference is near: some roundings of a double. */
const NEAR = 2n ** 40n

/** The difference of two values of one signal: exact where they are whole, else that of doubles. */
export function minus(left: Value, right: Value): Value {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left - right
  return Number(left) - Number(right)
}

/** Compares `scale` times a numerator, divided by a denominator that is not 0, with a threshold. */
export function compareQuotient(
  numerator: Value,
  denominator: Value,
  threshold: number,
  { scale = 1n }: { readonly scale?: bigint } = {},
): Comparison {
  const [top, topBelow] = fractionOf(numerator)
  const [bottom, bottomBelow] = fractionOf(denominator)
  const [limit, limitBelow] = fractionOf(threshold)
  if (bottom === 0n) throw new Error('divides by 0')
  const left = top * scale * bottomBelow * limitBelow
  const right = limit * topBelow * bottom
  const difference = bottom > 0n ? left - right : right - left
  const isNear = difference !== 0n && absolute(difference) * NEAR <= absolute(right)
  return { order: difference > 0n ? 1 : difference < 0n ? -1 : 0, isNear }
}

/** A double is a whole number divided by a power of two. */
function fractionOf(value: Value): [numerator: bigint, denominator: bigint] {
  if (typeof value === 'bigint') return [value, 1n]
  if (!Number.isFinite(value)) throw new Error(`${value} is no fraction`)
  let denominator = 1n
  let scaled = value
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    denominator *= 2n
  }
  return [BigInt(scaled), denominator]
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}
