import type { Hint } from '@sonde/sdk/api'
import type { DeviceInfo } from '../api/devices.ts'
import type { HeadlineText } from '../components/headline.tsx'
import { allOf, countText, formatQuantity } from '../format/number.ts'
import { BITS_PER_SECOND, WATTS } from '../format/quantity.ts'
import { formatAge } from '../format/time.ts'
import { be, type Tense } from '../format/words.ts'
import { deviceTitle } from './device.ts'
import { hintFacts, hintState, hintWords, holdsNow, type SpokenMoment } from './hint-words.ts'

/** Most devices named. More devices are only counted. */
const NAMED_LIMIT_COUNT = 3

/** Input of the sentence of a node with GPUs or NICs. */
export interface NodeSummary {
  readonly devices: readonly DeviceInfo[]
  /** Noun for the devices. Default: devices. */
  readonly noun?: readonly [one: string, many: string]
  /** Worst first. */
  readonly hints: readonly Hint[]
  /** False if the hints of the window are not fully known. Nothing is then called in range. */
  readonly isKnown: boolean
  /** Sentences on why the hints are unknown. */
  readonly unknown: string
  /** Hints that are about other devices of the node; default: none. */
  readonly elsewhere?: readonly Hint[]
  readonly ruleCount: number
  /** Rules of them that have no signal here. Default: none. */
  readonly blindCount?: number
  /** Number of present devices without samples. They are never called in range. Default: 0. */
  readonly silentCount?: number
  /** End of the last confirmed hint; undefined if none ended within the hour. */
  readonly lastEndedMs: number | undefined
  /** Watts of all GPUs and bytes a second that all NICs send; NaN where unknown. */
  readonly power: number
  readonly sent: number
  readonly moment: SpokenMoment
}

/** The sentence of a node: the worst hint with its numbers, or that all is in range. */
export function nodeSentence(state: NodeSummary): HeadlineText {
  const worst = state.hints[0]
  return worst ? hintSentence(worst, state) : calmSentence(state)
}

function hintSentence(hint: Hint, { hints, devices, unknown, moment }: NodeSummary): HeadlineText {
  const { stage, outcome, neededMs } = hint
  const isPast = !holdsNow(hint, moment)
  const forming =
    stage !== 'forming'
      ? ''
      : outcome === 'dismissed'
        ? `Not confirmed: it did not hold for ${formatAge(neededMs)}.`
        : `Not sure ${isPast ? 'by then' : 'yet'}: it must hold for ${formatAge(neededMs)}.`
  const more = hints.length > 1 ? `And ${hints.length - 1} more.` : ''
  const affected = affectedWords(hint, devices, isPast ? 'past' : 'present')
  return {
    tone: hintState(hint).tone,
    sentence: hintWords(hint, moment),
    facts: [hintFacts(hint, moment), affected, forming, more, unknown].filter(Boolean).join(' '),
  }
}

function affectedWords({ affected }: Hint, devices: readonly DeviceInfo[], tense: Tense): string {
  const shows = tense === 'past' ? 'showed' : 'shows'
  const found = devices.filter(({ id }) => affected.includes(id))
  if (found.length === 0) return ''
  if (found.length <= NAMED_LIMIT_COUNT) return `It ${shows} on ${listOf(found.map(deviceTitle))} too.`
  const gpus = found.filter(({ kind }) => kind === 'gpu').length
  const counts = [
    gpus > 0 ? countText(gpus, 'GPU') : '',
    found.length > gpus ? countText(found.length - gpus, 'NIC') : '',
  ]
  return `It ${shows} on ${listOf(counts.filter(Boolean))} too.`
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

function calmSentence(state: NodeSummary): HeadlineText {
  const { devices, noun = ['device', 'devices'], silentCount = 0, isKnown, lastEndedMs, power, sent, moment } = state
  const { nowMs, tense } = moment
  const gone = devices.filter((device) => device.state === 'gone')
  const all = allOf(devices.length, ...noun)
  const facts = [
    rulesWords(state),
    Number.isNaN(power) ? '' : `${formatQuantity(WATTS, power)} drawn in all.`,
    Number.isNaN(sent) ? '' : `${formatQuantity(BITS_PER_SECOND, sent)} sent in all.`,
    lastEndedMs === undefined ? '' : `The last hint ended ${formatAge(nowMs - lastEndedMs)} ago.`,
  ]
  const text = facts.filter(Boolean).join(' ')
  if (gone.length > 0) {
    const names = gone.length <= NAMED_LIMIT_COUNT ? listOf(gone.map(deviceTitle)) : countText(gone.length, ...noun)
    return { tone: 'warning', sentence: `${names} ${be(gone.length, tense)} gone`, facts: text }
  }
  if (silentCount > 0) return { tone: 'info', sentence: silentWords(state, silentCount), facts: text }
  return {
    tone: 'calm',
    sentence: isKnown
      ? `${all} ${be(devices.length, tense)} in range.`
      : `${countText(devices.length, ...noun)} ${be(devices.length, tense)} read.`,
    facts: text,
  }
}

/** Words on devices without samples, which rules cannot check. */
function silentWords(
  { devices, noun = ['device', 'devices'], isKnown, moment }: NodeSummary,
  silentCount: number,
): string {
  const { tense } = moment
  const give = (count: number) => (tense === 'past' ? 'gave' : count === 1 ? 'gives' : 'give')
  const rest = devices.length - silentCount
  if (rest === 0) return `No ${noun[0]} ${give(1)} a sample.`
  const state = isKnown ? 'in range' : 'read'
  return `${countText(silentCount, ...noun)} ${give(silentCount)} no sample, ${rest} ${be(rest, tense)} ${state}.`
}

/** Words on rules if these devices have no hints. Hints of other devices are mentioned. */
function rulesWords(state: NodeSummary) {
  const { isKnown, unknown, elsewhere = [], noun = ['device', 'devices'], ruleCount, blindCount = 0, moment } = state
  const { tense } = moment
  if (!isKnown) return unknown || 'Findings of rules are not known yet.'
  const [first, ...more] = elsewhere
  if (!first) {
    const blind = blindCount > 0 ? ` ${blindCount} more have no signal here.` : ''
    return `None of ${countText(ruleCount - blindCount, 'rule')} ${tense === 'past' ? 'held' : 'holds'}.${blind}`
  }
  const rest = more.length > 0 ? `, and ${more.length} more` : ''
  return `No hint ${be(1, tense)} about a ${noun[0]}. Elsewhere: ${hintWords(first, moment)}${rest}.`
}
