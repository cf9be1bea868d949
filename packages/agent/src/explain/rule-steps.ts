import type { RuleFacts, RulePlace, TracebackAnswer } from '@sonde/sdk/api'
import { countOf, sondeCommand } from '@sonde/sdk/internal'
import { broken, type Finding, fine, type Step } from '../sources/chains/chain.ts'
import { describeRule } from '../traceback/describe-rule.ts'
import { ago } from './ago.ts'
import { bookIn } from './book-in.ts'
import type { ExplainOptions } from './explanation.ts'

type WatchedSignal = NonNullable<RuleFacts['signal']>

/** The links of a rule after its file, as a running agent knows them. */
export function ruleSteps(facts: TracebackAnswer, rule: RuleFacts, options: ExplainOptions): Step[] {
  const { signal, combines = [] } = rule
  const head: Step = {
    name: 'rule',
    check: async () => fine(`rule ${rule.number} of ${facts.ruleCount}`, rule.condition),
  }
  const events: Step = { name: 'events', check: async () => eventsFinding(rule) }
  if (signal === undefined) return [head, { name: 'rules', check: async () => combined(combines) }, events]
  return [
    head,
    { name: 'signal', check: async () => signalFinding(rule, signal, facts, options) },
    { name: 'samples', check: async () => samplesFinding(rule, signal) },
    events,
  ]
}

/** The links of a rule if no agent answers: the file's rule, and whether a configured source has the signal. */
export async function fileRuleSteps(name: string, options: ExplainOptions): Promise<Step[]> {
  const book = await bookIn(options.traceback?.rules)
  const index = book?.rules.findIndex((one) => one.name === name) ?? -1
  const rule = book?.rules[index]
  if (book === undefined || rule === undefined) return []
  const head = async () => fine(`rule ${index + 1} of ${book.rules.length}`, describeRule(rule, book))
  const agent = async (): Promise<Finding> => {
    return {
      state: 'unknown',
      tried: options.agentPlace,
      answer: 'no agent answers there, so the samples of the rules are unknown',
    }
  }
  const signal = 'of' in rule ? undefined : book.signals[rule.signal]
  const source = async (): Promise<Finding> =>
    (signal && switchedOff(signal, options)) ?? fine(signalText(signal), 'as the file says')
  return [
    { name: 'rule', check: head },
    ...(signal === undefined ? [] : [{ name: 'signal', check: source }]),
    { name: 'agent', check: agent },
  ]
}

/** `oven.celsius{name="left"}`. */
function signalText(signal: Pick<WatchedSignal, 'type' | 'field' | 'labels'> | undefined): string {
  if (signal === undefined) return ''
  const labels = Object.entries(signal.labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return `${signal.type}.${signal.field}${labels.length === 0 ? '' : `{${labels.join(',')}}`}`
}

/** A finding if sources have the type but no configured source has it. */
function switchedOff(
  signal: Pick<WatchedSignal, 'type' | 'field' | 'labels'>,
  { definitions, configured }: ExplainOptions,
): Finding | undefined {
  const having = definitions
    .filter(({ types }) => types.some(({ name }) => name === signal.type))
    .map(({ name }) => name)
  if (having.length === 0 || configured.some(({ definition }) => having.includes(definition.name))) return undefined
  const others = having.filter((name) => !name.startsWith('simulator'))
  const [first = having[0] as string] = others
  return broken(
    signalText(signal),
    `${having.join(' and ')} ${having.length === 1 ? 'has' : 'have'} it, and ${having.length === 1 ? 'is' : 'are'} switched off`,
    `add "- type: ${first}" to data_sources, or remove enabled: false`,
  )
}

function signalFinding(
  rule: RuleFacts,
  signal: WatchedSignal,
  facts: TracebackAnswer,
  options: ExplainOptions,
): Finding {
  const tried = signalText(signal)
  const { sources, places, placeCount, left, others, isTypeLive, hasField } = rule
  if (placeCount > 0) {
    const named = places.map(({ device }) => device || 'the node').join(', ')
    const more = placeCount > places.length ? ` and ${placeCount - places.length} more` : ''
    return fine(tried, `${countOf(placeCount, 'series', 'series')}: ${named}${more}`)
  }
  if (left !== undefined)
    return broken(
      tried,
      `nothing since ${ago(left.atMs)}, when ${left.who} left`,
      `start ${left.who} again, or find out why it left`,
    )
  const faulty = sources.find(({ fault }) => fault !== '')
  if (faulty !== undefined)
    return broken(
      tried,
      `${faulty.name} does not watch it: ${faulty.fault}`,
      'let the rule look back less far, or make the ring longer',
    )
  const off = sources.length === 0 ? switchedOff(signal, options) : undefined
  if (off !== undefined) return off
  const silent = sources.find(({ state }) => state !== 'reading')
  if (silent !== undefined && !sources.some(({ state }) => state === 'reading'))
    return broken(
      tried,
      `${silent.name} is ${silent.state}: ${silent.reason}`,
      `${sondeCommand()} explain ${silent.name}`,
    )
  if (!hasField)
    return broken(tried, `${signal.type} has no field ${signal.field}`, 'use a field that /api/v1/types lists')
  if (isTypeLive && others.length > 0)
    return broken(
      tried,
      `no series has these labels; there are ${others.join('; ')}`,
      'change labels of the signal in the file of rules',
    )
  if (facts.refused > 0 && isTypeLive)
    return broken(
      tried,
      `the limit of watched series is reached: ${facts.refused} records were left out`,
      'give the signal labels, so that it watches fewer series',
    )
  if (sources.length > 0)
    return broken(
      tried,
      `${sources.map(({ name }) => name).join(' and ')} read, but no device has it`,
      `${sondeCommand()} explain ${sources[0]?.name}`,
    )
  return broken(
    tried,
    `no source has records of ${signal.type}, and no application has reported any`,
    'start the application that declares it, or use a type that /api/v1/types lists',
  )
}

function samplesFinding({ places, sources, absent }: RuleFacts, { field }: WatchedSignal): Finding {
  const tried = samplingWords(places, sources)
  const newestMs = Math.max(0, ...places.map(({ seenMs }) => seenMs))
  if (newestMs === 0) return { state: 'unknown', tried, answer: 'no sample yet' }
  const values = places.flatMap(({ device, value }) => (value === null ? [] : [`${value} (${device || 'the node'})`]))
  const why = absent.length === 0 ? '' : `${field} is absent: ${absent.join('; ')}`
  if (values.length === 0 && why !== '')
    return broken(
      tried,
      `${why}, newest record ${ago(newestMs)}`,
      'fix the cause in the reason; not every device has every value',
    )
  return fine(tried, [`newest ${ago(newestMs)}`, values.join(', '), why].filter(Boolean).join(': '))
}

/** How often rules see samples, and in which process. */
function samplingWords(places: readonly RulePlace[], sources: RuleFacts['sources']): string {
  const how = places.map(({ source, app, isRing }) => {
    if (app !== '') return `as often as ${app} reports`
    const own = sources.find(({ name }) => name === source)
    const every = own?.everyMs == null ? 'as reported' : `every ${own.everyMs} ms`
    const host =
      own === undefined
        ? ''
        : own.host === 'agent'
          ? ' in the agent'
          : own.host === 'worker'
            ? ' in a worker'
            : ` in a process for ${own.host}`
    return isRing ? `${every}${host}, from the ring of ${source}` : `${every}${host}, from the records of ${source}`
  })
  return [...new Set(how)].join('; ')
}

function combined(rules: readonly string[]): Finding {
  return fine(countOf(rules.length, 'rule'), `${rules.join(', ')}; each can be explained by its name`)
}

function eventsFinding({ last }: RuleFacts): Finding {
  if (last === undefined) return fine('events', 'it has not fired, as far as events are kept')
  const { event, device, startMs, endMs } = last
  const where = device === '' ? '' : ` on ${device}`
  const when = endMs === undefined ? `open, began ${ago(startMs)}` : `last fired ${ago(startMs)}`
  return fine('events', `${when}${where}, event ${event}`)
}
