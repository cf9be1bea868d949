import { type CheckVerdict, failed, notPossible, passed } from '../check.ts'

/** A value that NVML gives: undefined if it has none. */
export type NvmlValue = number | bigint | string | undefined

/** How a field of NVML relates to a field of `nvidia-smi`. */
export interface SmiField {
  /** Name of the field for `--query-gpu`. */
  readonly smi: string
  /** Allowed difference of a value that moves, beyond what NVML gave before and after. Default: 0. */
  readonly tolerance?: number
  /** Converts the value of NVML to the unit that `nvidia-smi` prints. Default: the same unit. */
  readonly convert?: (value: number) => number
  /** Converts a text that `nvidia-smi` prints to a number. Default: a decimal number. */
  readonly parse?: (text: string) => number
}

/** Texts that `nvidia-smi` prints if it has no value. */
const ABSENT = /^\[?(?:N\/A|Not Supported|Unknown Error|GPU requires reset|Insufficient Permissions)\]?$|^$/i

/**
 * Compares a value that NVML gave before and after `nvidia-smi` printed its value.
 *
 * @param printed Undefined if this version of `nvidia-smi` does not know the field.
 */
export function compared(
  { smi, tolerance = 0, convert = (value) => value, parse = Number }: SmiField,
  before: NvmlValue,
  after: NvmlValue,
  printed: string | undefined,
): CheckVerdict {
  if (printed === undefined) return notPossible(`this nvidia-smi does not know ${smi}`)
  const isAbsent = ABSENT.test(printed)
  if (before === undefined || after === undefined) {
    const [known] = [before, after].filter((value) => value !== undefined)
    if (known !== undefined) return notPossible('NVML gave a value only once')
    return isAbsent ? passed('neither has a value') : failed(`${smi} ${printed}`, 'NVML has no value')
  }
  if (isAbsent) return failed(`${smi} without a value`, `NVML has ${after}`)
  if (typeof after === 'string') return after === printed ? passed(after) : failed(`${smi} ${printed}`, after)
  const [low, high] = [convert(Number(before)), convert(Number(after))].sort((a, b) => a - b) as [number, number]
  const value = parse(printed)
  const found = low === high ? `${high}` : `${low} to ${high}`
  const isNear = value >= low - tolerance && value <= high + tolerance
  return isNear ? passed(found) : failed(`${smi} ${printed}`, found)
}
