import type { HeadlineText } from '../../components/headline.tsx'
import { ABSENT, countOf, formatQuantity, groupThousands } from '../../format/number.ts'
import { BITS_PER_SECOND, PER_SECOND, PERCENT } from '../../format/quantity.ts'
import { formatAge } from '../../format/time.ts'

/** Errors a second from which on the headline speaks, and drops, which some drivers count for frames that nobody wants. */
const ERRORS_MIN = 0.1
const DROPS_MIN = 1
/** Share of time in which tasks waited from which on it is worth a sentence. */
const PRESSURE_MIN = 0.2
/** Share of memory below which it is short. */
const MEMORY_MIN = 0.05

/** One interface as the headline sees it. Rates are a second; NaN is absent. */
export interface InterfaceFact {
  readonly device: string
  readonly isUp: boolean | undefined
  /** How long ago it went down, where that was seen. */
  readonly downForMs?: number | undefined
  readonly errors: number
  readonly drops: number
  /** How long errors or drops have been counted without a pause. */
  readonly movingForMs: number
}

/** Everything that the headline of a node is made from. */
export interface NodeFacts {
  readonly interfaces: readonly InterfaceFact[]
  /** Bytes a second in all. */
  readonly received: number
  readonly sent: number
  /** Shares, 0 to 1. */
  readonly busy: number
  readonly memoryAvailable: number
  readonly pressure: readonly { readonly name: string; readonly share: number }[]
}

interface Finding {
  readonly rank: number
  readonly tone: 'warning' | 'critical'
  readonly sentence: string
  readonly facts: string
}

/** The sentence of a node: the worst that is so, or that all is well. */
export function nodeHeadline(facts: NodeFacts): HeadlineText {
  const findings = [...facts.interfaces.flatMap((fact) => interfaceFindings(fact, facts)), ...hostFindings(facts)]
  findings.sort((a, b) => a.rank - b.rank)
  const worst = findings[0]
  if (!worst) return calm(facts)
  const more = findings.length > 1 ? ` And ${findings.length - 1} more.` : ''
  return { tone: worst.tone, sentence: worst.sentence, facts: `${worst.facts}${more}` }
}

function interfaceFindings(fact: InterfaceFact, all: NodeFacts): Finding[] {
  const found: Finding[] = []
  const { device } = fact
  const siblings = all.interfaces.filter((other) => other !== fact)
  if (fact.downForMs !== undefined) {
    found.push({
      rank: 0,
      tone: 'critical',
      sentence: `${device} is down, for ${formatAge(fact.downForMs)}`,
      facts: `It was up before. ${upCount(all)}`,
    })
  }
  const lasting = fact.movingForMs >= 2_000 ? `, for ${formatAge(fact.movingForMs)}` : ''
  if (fact.errors >= ERRORS_MIN) {
    const quiet = siblings.every((other) => !(other.errors >= ERRORS_MIN))
    found.push({
      rank: 1,
      tone: 'critical',
      sentence: `${device} counts errors${lasting}`,
      facts: `${formatQuantity(PER_SECOND, fact.errors)} now${siblings.length > 0 && quiet ? ', the other interfaces 0' : ''}.`,
    })
  } else if (fact.drops >= DROPS_MIN) {
    const quiet = siblings.every((other) => !(other.drops >= DROPS_MIN))
    found.push({
      rank: 2,
      tone: 'warning',
      sentence: `${device} drops packets${lasting}`,
      facts: `${formatQuantity(PER_SECOND, fact.drops)} now${siblings.length > 0 && quiet ? ', the other interfaces 0' : ''}.`,
    })
  }
  return found
}

const RESOURCE_WORDS: Readonly<Record<string, string>> = { cpu: 'a processor', memory: 'memory', io: 'a disk' }

function hostFindings(facts: NodeFacts): Finding[] {
  const found: Finding[] = []
  if (facts.memoryAvailable < MEMORY_MIN) {
    found.push({
      rank: 3,
      tone: 'warning',
      sentence: `Memory is short: ${formatQuantity(PERCENT, facts.memoryAvailable)} is available`,
      facts: calm(facts).facts,
    })
  }
  for (const { name, share } of facts.pressure) {
    if (!(share >= PRESSURE_MIN)) continue
    found.push({
      rank: 4 - share,
      tone: 'warning',
      sentence: `Tasks wait for ${RESOURCE_WORDS[name] ?? name} ${formatQuantity(PERCENT, share)} of the time`,
      facts: calm(facts).facts,
    })
  }
  return found
}

function upCount({ interfaces }: NodeFacts): string {
  const known = interfaces.filter(({ isUp }) => isUp !== undefined)
  const up = known.filter(({ isUp }) => isUp).length
  if (known.length === 0) return `${countOf(interfaces.length, 'interface')} read.`
  if (up === known.length) return `All ${countOf(up, 'interface')} are up.`
  return `${up} of ${countOf(known.length, 'interface')} ${up === 1 ? 'is' : 'are'} up.`
}

function calm(facts: NodeFacts): HeadlineText {
  const known = facts.interfaces.filter(({ isUp }) => isUp !== undefined)
  const up = known.filter(({ isUp }) => isUp).length
  const subject =
    known.length > 0 && up === known.length && up > 1
      ? `All ${groupThousands(String(up))} interfaces are up`
      : upCount(facts).replace(/\.$/, '')
  const sentence = facts.interfaces.length === 0 ? 'No interface is read' : `${subject}; none counts errors or drops.`
  const parts = [
    measured(
      facts.received,
      `Received ${formatQuantity(BITS_PER_SECOND, facts.received)}, sent ${formatQuantity(BITS_PER_SECOND, facts.sent)} in all.`,
    ),
    measured(facts.busy, `Processors ${formatQuantity(PERCENT, facts.busy)} busy,`),
    measured(facts.memoryAvailable, `${formatQuantity(PERCENT, facts.memoryAvailable)} of memory available.`),
  ]
  return { tone: 'calm', sentence, facts: parts.filter(Boolean).join(' ') }
}

function measured(value: number, text: string): string {
  return Number.isNaN(value) || text.includes(ABSENT) ? '' : text
}
