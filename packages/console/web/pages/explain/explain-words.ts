import type { ExplainLink, ExplainWalk } from '@sonde/sdk/api'
import type { HeadlineText } from '../../components/headline.tsx'
import type { StateTone } from '../../components/state-mark.tsx'
import { countOf } from '../../format/number.ts'
import { be, type Tense } from '../../format/words.ts'

/** Icon and word of a link. */
export const LINK_STATES: Readonly<Record<ExplainLink['state'], { readonly tone: StateTone; readonly word: string }>> =
  {
    ok: { tone: 'ok', word: 'Holds' },
    broken: { tone: 'denied', word: 'Broken' },
    unknown: { tone: 'absent', word: 'Not known' },
  }

/** The first link that is broken: how to fix it is what matters, the later ones hang on it. */
export function brokenLink({ links }: Pick<ExplainWalk, 'links'>): ExplainLink | undefined {
  return links.find(({ state }) => state === 'broken')
}

/** What the walk came to, in a sentence. */
export function explainHeadline(answer: ExplainWalk, tense: Tense = 'present'): HeadlineText {
  const { of, source, device, links } = answer
  const where = [source && `source ${source}`, device && `device ${device}`].filter(Boolean).join(', ')
  const broken = brokenLink(answer)
  if (broken) {
    const behind = links.slice(links.indexOf(broken) + 1).length
    const facts = behind > 0 ? `${countOf(behind, 'link')} behind it cannot be known before it is fixed.` : ''
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

/** Programs with which a command begins; anything else is said to people. */
const COMMAND = /^((?:sudo|ip|rdma|ethtool|devlink|mount|echo|sonde|npx sonde) .*?)(?:$|[;:,] (.*)$)/s

/** What a sentence wants written somewhere. */
const QUOTED = /"([^"]+)"/

/** How to fix a link: a command or a line of configuration to be copied, and words about it; either may be empty. */
export function fixParts(text: string): { readonly command: string; readonly words: string } {
  const match = COMMAND.exec(text)
  if (!match) return { command: QUOTED.exec(text)?.[1] ?? '', words: text }
  const [, command = '', words = ''] = match
  return { command, words }
}
