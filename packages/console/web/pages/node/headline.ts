import type { HeadlineText } from '../../components/headline.tsx'
import { type InterfaceFact, type InterfaceFinding, interfaceFindings } from '../../devices/interface-facts.ts'
import { ABSENT, allOf, countText, formatQuantity } from '../../format/number.ts'
import { BITS_PER_SECOND, PERCENT } from '../../format/quantity.ts'
import { formatDuration } from '../../format/time.ts'
import { be, type Tense } from '../../format/words.ts'
import { resourceName } from '../host-data.ts'

/** Least share of time waited that is worth a sentence. */
const PRESSURE_MIN = 0.2
/** Memory is short below this available share. */
const MEMORY_MIN = 0.05

/** Input of the headline of a node. */
export interface NodeFacts {
  readonly interfaces: readonly InterfaceFact[]
  /** Total bytes per second. */
  readonly received: number
  readonly sent: number
  /** Shares from 0 to 1. */
  readonly busy: number
  readonly memoryAvailable: number
  readonly pressure: readonly { readonly name: string; readonly share: number }[]
  /** Time over which the pressure is a mean. Unit: milliseconds. */
  readonly pressureSpanMs: number
}

/** The headline of a node: the worst problem, or that all is well. */
export function nodeHeadline(facts: NodeFacts, tense: Tense = 'present'): HeadlineText {
  const { interfaces } = facts
  const context = upCount(facts, tense)
  const findings = [
    ...interfaces.flatMap((fact) =>
      interfaceFindings(
        fact,
        interfaces.filter((other) => other !== fact),
        { context, tense },
      ),
    ),
    ...hostFindings(facts, tense),
  ]
  findings.sort((a, b) => a.rank - b.rank)
  const worst = findings[0]
  if (!worst) return calm(facts, tense)
  const more = findings.length > 1 ? ` And ${findings.length - 1} more.` : ''
  return { tone: worst.tone, sentence: worst.sentence, facts: `${worst.facts}${more}` }
}

/** Shortages of the host, the worst first by `rank`. */
export function hostFindings(facts: NodeFacts, tense: Tense): InterfaceFinding[] {
  const found: InterfaceFinding[] = []
  if (facts.memoryAvailable < MEMORY_MIN) {
    found.push({
      rank: 3,
      tone: 'warning',
      sentence: `Memory ${be(1, tense)} short: ${formatQuantity(PERCENT, facts.memoryAvailable)} ${be(1, tense)} available`,
      facts: calm(facts, tense).facts,
    })
  }
  for (const { name, share } of facts.pressure) {
    if (!(share >= PRESSURE_MIN)) continue
    found.push({
      rank: 4 - share,
      tone: 'warning',
      sentence: `Tasks ${tense === 'past' ? 'waited' : 'wait'} for ${resourceName(name)} ${formatQuantity(PERCENT, share)} of the time, mean of ${formatDuration(facts.pressureSpanMs)}`,
      facts: calm(facts, tense).facts,
    })
  }
  return found
}

function upCount(facts: NodeFacts, tense: Tense): string {
  const interfaces = facts.interfaces.filter(({ isGone, isSilent }) => !isGone && !isSilent)
  const known = interfaces.filter(({ isUp }) => isUp !== undefined)
  const up = known.filter(({ isUp }) => isUp).length
  if (known.length === 0) return `${countText(interfaces.length, 'interface')} read.`
  if (up === known.length) return `${allOf(up, 'interface')} ${be(up, tense)} up.`
  return `${up} of ${countText(known.length, 'interface')} ${be(up, tense)} up.`
}

function calm(facts: NodeFacts, tense: Tense): HeadlineText {
  const known = facts.interfaces.filter(({ isUp }) => isUp !== undefined)
  const up = known.filter(({ isUp }) => isUp).length
  const subject =
    known.length > 0 && up === known.length && up > 1
      ? `${allOf(up, 'interface')} ${be(up, tense)} up`
      : upCount(facts, tense).replace(/\.$/, '')
  const hasValues = facts.interfaces.some(({ isSilent }) => !isSilent)
  const sentence =
    facts.interfaces.length === 0
      ? `No interface ${be(1, tense)} read`
      : hasValues
        ? `${subject}; none ${tense === 'past' ? 'counted' : 'counts'} errors or drops.`
        : `No interface ${tense === 'past' ? 'had' : 'has'} values at this time`
  const parts = [
    measured(
      facts.received,
      `Received ${formatQuantity(BITS_PER_SECOND, facts.received)}, sent ${formatQuantity(BITS_PER_SECOND, facts.sent)} in all.`,
    ),
    measured(facts.busy, `Processors ${formatQuantity(PERCENT, facts.busy)} busy.`),
    measured(facts.memoryAvailable, `${formatQuantity(PERCENT, facts.memoryAvailable)} of memory available.`),
  ]
  return { tone: 'calm', sentence, facts: parts.filter(Boolean).join(' ') }
}

function measured(value: number, text: string): string {
  return Number.isNaN(value) || text.includes(ABSENT) ? '' : text
}
