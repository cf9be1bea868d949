import type { HeadlineText } from '../../components/headline.tsx'
import { lastValue, meanReading, type ReadSpan } from '../../devices/device-reading.ts'
import { hintFacts, hintState, hintWords, type SpokenMoment } from '../../devices/hint-words.ts'
import { type MomentHints, unknownWords } from '../../devices/moment-hints.ts'
import { allOf, countText, formatQuantity } from '../../format/number.ts'
import { BITS_PER_SECOND } from '../../format/quantity.ts'
import { be, type Tense } from '../../format/words.ts'
import type { PortRow } from './port-data.ts'

/** Lowest state of a port that carries data. */
const ACTIVE_MIN = 4

/**
 * A sentence on the ports: the worst hint now or in the window, else the total traffic. Without known hints it never
 * calls anything in range.
 */
export function portsHeadline(
  rows: readonly PortRow[],
  { hints, isKnown, unknown }: MomentHints,
  span: ReadSpan,
  moment: SpokenMoment,
): HeadlineText {
  const { tense } = moment
  const ids = new Set(rows.map(({ device }) => device.id))
  const own = hints.filter(({ device, severity }) => ids.has(device) && severity !== 'notice')
  const [worst] = own
  if (worst) {
    const more = own.length > 1 ? ` And ${own.length - 1} more.` : ''
    return {
      tone: hintState(worst).tone,
      sentence: hintWords(worst, moment),
      facts: `${hintFacts(worst, moment)}${more}`,
    }
  }
  const activity = activityWords(rows, tense, span)
  const total = (name: 'sent' | 'received'): number =>
    rows.reduce((sum, { columns }) => sum + (meanReading(columns[name], span).value || 0), 0)
  const facts = `${formatQuantity(BITS_PER_SECOND, total('sent'))} sent and ${formatQuantity(BITS_PER_SECOND, total('received'))} received in all.`
  if (isKnown)
    return {
      tone: 'calm',
      sentence: `${activity.sentence}${activity.isWhole ? ' and in range' : `; no rule ${tense === 'past' ? 'saw' : 'sees'} trouble`}`,
      facts,
    }
  if (moment.toMs === undefined) return { tone: 'calm', sentence: activity.sentence, facts }
  // An active port may still lose packets, so without rules there is no positive headline.
  const judged = unknownWords(unknown, moment.zone) || 'Findings of rules are not known.'
  const sentence = `${countText(rows.length, 'port')} ${be(rows.length, tense)} read`
  return { tone: 'calm', sentence, facts: `${judged} ${activity.sentence}. ${facts}` }
}

/** How many ports are active; `isWhole` if all ports are. */
function activityWords(
  rows: readonly PortRow[],
  tense: Tense,
  span: ReadSpan,
): { readonly sentence: string; readonly isWhole: boolean } {
  const states = rows.map(({ columns }) => lastValue(columns.state, span)).filter((state) => !Number.isNaN(state))
  const active = states.filter((state) => state >= ACTIVE_MIN).length
  const count = countText(rows.length, 'port')
  if (active === rows.length)
    return { sentence: `${allOf(rows.length, 'port')} ${be(rows.length, tense)} active`, isWhole: true }
  if (states.length === 0) return { sentence: `${count} ${be(rows.length, tense)} read`, isWhole: false }
  return { sentence: `${active} of ${count} ${be(active, tense)} active`, isWhole: false }
}
