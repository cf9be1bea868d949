import { groupThousands } from '../../format/number.ts'

/** How much was dropped, and for which reasons. */
export function DropReasons({
  count,
  dropped,
}: {
  readonly count: number
  readonly dropped: Readonly<Record<string, number>>
}) {
  if (count === 0) return '0'
  const reasons = Object.entries(dropped)
    .filter(([, amount]) => amount > 0)
    .map(([reason, amount]) => `${groupThousands(String(amount))} ${reason.replaceAll('_', ' ')}`)
  return <span className="is-trouble">{reasons.join(', ')}</span>
}
