import type { ExplainLink, ExplainWalk } from '@sonde/sdk/api'
import type { HeadlineText } from '../../components/headline.tsx'
import type { StateTone } from '../../components/state-mark.tsx'
import { countText } from '../../format/number.ts'
import { be, type Tense } from '../../format/words.ts'

/** Icon and word of a link. */
export const LINK_STATES: Readonly<Record<ExplainLink['state'], { readonly tone: StateTone; readonly word: string }>> =
  {
    ok: { tone: 'ok', word: 'Holds' },
    broken: { tone: 'denied', word: 'Broken' },
    unknown: { tone: 'absent', word: 'Not known' },
  }

/** The first broken link. Its fix matters most, because later links depend on it. */
export function brokenLink({ links }: Pick<ExplainWalk, 'links'>): ExplainLink | undefined {
  return links.find(({ state }) => state === 'broken')
}

/** A sentence on the result of the walk. */
export function explainHeadline(answer: ExplainWalk, tense: Tense = 'present'): HeadlineText {
  const { of, source, device, links } = answer
  const where = [source && `source ${source}`, device && `device ${device}`].filter(Boolean).join(', ')
  const broken = brokenLink(answer)
  if (broken) {
    const behind = links.slice(links.indexOf(broken) + 1).length
    const facts = behind > 0 ? `${countText(behind, 'link')} behind it can be checked only after the fix.` : ''
    return {
      tone: 'warning',
      sentence: `The chain to ${of} ${tense === 'past' ? 'broke' : 'breaks'} at ${broken.name}`,
      facts: [where && `Walked for ${where}.`, facts].filter(Boolean).join(' '),
    }
  }
  const unknown = links.filter(({ state }) => state === 'unknown')
  const sentence =
    links.length === 0
      ? `Nothing ${be(1, tense)} known of ${of}`
      : unknown.length === 0
        ? `Every link from the configuration to ${of} ${tense === 'past' ? 'held' : 'holds'}`
        : `No link to ${of} ${be(1, tense)} broken`
  const facts = unknown.length > 0 ? `Not known: ${unknown.map(({ name }) => name).join(', ')}.` : ''
  return { tone: 'calm', sentence, facts: [where && `Walked for ${where}.`, facts].filter(Boolean).join(' ') }
}

/** First words of commands. Other text is prose. */
const COMMAND = /^((?:sudo|ip|rdma|ethtool|devlink|mount|echo|sonde|npx sonde) .*?)(?:$|[;:,] (.*)$)/s

/** Quoted text that the user should write into the configuration. */
const QUOTED = /"([^"]+)"/

/** Splits a fix into a command or configuration line to copy, and words about it. Either may be empty. */
export function fixParts(text: string): { readonly command: string; readonly words: string } {
  const match = COMMAND.exec(text)
  if (!match) return { command: QUOTED.exec(text)?.[1] ?? '', words: text }
  const [, command = '', words = ''] = match
  return { command, words }
}
