import type { Fact } from '../../components/facts.tsx'
import { ABSENT, formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import { bounded, type Quantity } from '../../format/quantity.ts'

/** A fact of one number; `–` where it is absent. */
export function numberFact(label: string, quantity: Quantity, raw: number, caption = ''): Fact {
  if (Number.isNaN(raw)) return { label, value: ABSENT, caption: 'not told' }
  const unit = pickUnit(quantity, raw)
  return { label, value: formatIn(unit, bounded(quantity, raw)), unit: unit.label, caption }
}

/** A fact of a total; with a tone it is one that should be 0. */
export function countFact(
  label: string,
  value: string | undefined,
  caption: string,
  tone?: NonNullable<Fact['tone']>,
): Fact {
  if (value === undefined) return { label, value: ABSENT, caption: 'not told' }
  return { label, value: groupThousands(value), caption, ...(tone && Number(value) > 0 ? { tone } : {}) }
}
