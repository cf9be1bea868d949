import type { Hint } from '../../api/hints.ts'
import type { HeadlineText } from '../../components/headline.tsx'
import { recentMean } from '../../devices/device-columns.ts'
import { hintWords } from '../../devices/hint-words.ts'
import { newestValue } from '../../devices/interface-data.ts'
import { allOf, countOf, formatQuantity } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import { be, type Tense } from '../../format/words.ts'
import type { PortRow } from './port-data.ts'

/** States from which on a port carries data. */
const ACTIVE_MIN = 4

/**
 * What is so about the ports, in a sentence: the worst that a rule sees, or what they carry together. Without hints, of
 * a window that is over, nothing is said of rules.
 */
export function portsHeadline(
  rows: readonly PortRow[],
  hints: readonly Hint[] | undefined,
  { nowMs, stepMs, tense }: { readonly nowMs: number; readonly stepMs: number; readonly tense: Tense },
): HeadlineText {
  const ids = new Set(rows.map(({ device }) => device.id))
  const own = hints?.filter(({ device, severity }) => ids.has(device) && severity !== 'notice') ?? []
  const [worst] = own
  if (worst) {
    const more = own.length > 1 ? ` And ${own.length - 1} more.` : ''
    return {
      tone: worst.severity === 'critical' ? 'critical' : 'warning',
      sentence: hintWords(worst, nowMs, tense),
      facts: `${worst.sentence.replace(/\.$/, '')}.${more}`,
    }
  }
  const states = rows.map(({ columns }) => newestValue(columns.state)).filter((state) => !Number.isNaN(state))
  const active = states.filter((state) => state >= ACTIVE_MIN).length
  const count = countOf(rows.length, 'port')
  const quiet = hints ? `; no rule ${tense === 'past' ? 'saw' : 'sees'} trouble` : ''
  const sentence =
    active === rows.length
      ? `${allOf(rows.length, 'port')} ${be(rows.length, tense)} active${hints ? ' and in range' : ''}`
      : states.length === 0
        ? `${count} ${be(rows.length, tense)} read${quiet}`
        : `${active} of ${count} ${be(active, tense)} active${quiet}`
  const total = (name: 'sent' | 'received'): number =>
    rows.reduce((sum, { columns }) => sum + (recentMean(columns[name], stepMs) || 0), 0)
  const facts = `${formatQuantity(BITS_PER_SECOND, total('sent'))} sent and ${formatQuantity(BITS_PER_SECOND, total('received'))} received in all.`
  return { tone: 'calm', sentence, facts }
}
