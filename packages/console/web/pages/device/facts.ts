import type { Fact } from '../../components/facts.tsx'
import { formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import type { Quantity } from '../../format/quantity.ts'

/** A fact of one number; `–` where it is absent. */
export function numberFact(label: string, quantity: Quantity, raw: number, caption = ''): Fact {
  const unit = pickUnit(quantity, Number.isNaN(raw) ? 0 : raw)
  return { label, value: formatIn(unit, raw), ...(Number.isNaN(raw) ? {} : { unit: unit.label }), caption }
}

/** A fact of a total; with a tone it is one that should be 0. */
export function countFact(
  label: string,
  value: string | undefined,
  caption: string,
  tone?: NonNullable<Fact['tone']>,
): Fact {
  if (value === undefined) return { label, value: '–', caption: 'not told' }
  return { label, value: groupThousands(value), caption, ...(tone && Number(value) > 0 ? { tone } : {}) }
}
