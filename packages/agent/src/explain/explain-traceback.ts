import type { ExplainWalk, TracebackAnswer } from '@sonde/sdk/api'
import { countOf, sondeCommand } from '@sonde/sdk/internal'
import { broken, type Finding, fine, type Step, walk } from '../sources/chains/chain.ts'
import { checkTraceback } from '../traceback/check-traceback.ts'
import { ago } from './ago.ts'
import type { ExplainOptions } from './explanation.ts'
import { fileRuleSteps, ruleSteps } from './rule-steps.ts'

/** The name under which traceback is explained, and the source of its events. */
const TRACEBACK = 'traceback'
/** Marks the name of a rule if a source, device or metric has the same name. */
const RULE = /^rule:(.+)$/s
/** If the folder is filled above this share, the answer warns that old events will be removed. */
const NEARLY_FULL = 0.9

/** Whether the name is `traceback` or marks a rule. */
export function isOfTraceback(of: string): boolean {
  return of === TRACEBACK || RULE.test(of)
}

/** The chains of traceback as a whole, or of a rule; none if no rule has that name. */
export async function tracebackChains(of: string, options: ExplainOptions): Promise<ExplainWalk[]> {
  const name = RULE.exec(of)?.[1] ?? of
  const wanted = of === TRACEBACK ? undefined : name
  const facts = await options.facts?.traceback?.(wanted)
  const told = { of: name, source: TRACEBACK, device: '' }
  if (wanted !== undefined) {
    const isThere = facts === undefined ? await isInFile(wanted, options) : facts.rule !== undefined
    if (!isThere) return []
    const rest =
      facts?.rule === undefined ? await fileRuleSteps(wanted, options) : ruleSteps(facts, facts.rule, options)
    return [{ ...told, links: await walk([...headSteps(facts, options), ...rest]) }]
  }
  const steps = facts === undefined ? [noAgent(options)] : stateSteps(facts)
  return [{ ...told, links: await walk([...headSteps(facts, options), ...steps]) }]
}

async function isInFile(name: string, { traceback }: ExplainOptions): Promise<boolean> {
  const { bookIn } = await import('./book-in.ts')
  const book = await bookIn(traceback?.rules)
  return book?.rules.some((rule) => rule.name === name) === true
}

/** Configuration and file: from a running agent, or read here without an agent. */
function headSteps(facts: TracebackAnswer | undefined, options: ExplainOptions): Step[] {
  const path = facts === undefined ? (options.traceback?.rules ?? '') : facts.path
  return [
    { name: 'configuration', check: async () => configured(path) },
    { name: 'file', check: async () => (facts === undefined ? fileHere(options) : fileInUse(facts)) },
  ]
}

function configured(path: string): Finding {
  const tried = 'traceback.rules'
  if (path !== '') return fine(tried, path)
  return broken(
    tried,
    'no file of rules is configured',
    'set traceback.rules to a file; docs/traceback.md describes the language',
  )
}

function fileInUse({ path, fault, takenMs, takenCount, ruleCount, signalCount }: TracebackAnswer): Finding {
  const counts = `${countOf(ruleCount, 'rule')} on ${countOf(signalCount, 'signal')}`
  const held = `${counts}, version ${takenCount}, read ${ago(takenMs)}`
  if (fault === '')
    return takenCount === 0 ? { state: 'unknown', tried: path, answer: 'not read yet' } : fine(path, held)
  const left = takenCount === 0 ? 'no rule watches' : `the previous rules stay in effect: ${held}`
  return broken(
    path,
    `${fault}; ${left}`,
    `correct the file: it is read again when it changes; ${sondeCommand()} check lists every fault`,
  )
}

async function fileHere({ traceback }: ExplainOptions): Promise<Finding> {
  const path = traceback?.rules ?? ''
  const found = traceback === undefined ? [] : await checkTraceback(traceback)
  const [first, ...others] = found.filter(({ of }) => of === 'rules')
  if (first === undefined) return { state: 'unknown', tried: path, answer: 'not checked' }
  if (first.state === 'ok') return fine(path, first.found.replace(`${path}, `, ''))
  const more = others.length === 0 ? '' : `; and ${others.length} more`
  return broken(path, `${first.found}${more}`, `correct the file; ${sondeCommand()} check lists every fault`)
}

/** Facts that only a running agent has. */
function noAgent({ agentPlace }: ExplainOptions): Step {
  return {
    name: 'agent',
    check: async () => ({
      state: 'unknown',
      tried: agentPlace,
      answer: 'no agent answers there, so the samples of the rules are unknown',
    }),
  }
}

function stateSteps({ missing, missingCount, folder, openCount, limited, refused, ...facts }: TracebackAnswer): Step[] {
  const signals = (): Finding => {
    const tried = countOf(facts.signalCount, 'signal')
    if (missingCount === 0) return fine(tried, 'every watched signal is there')
    const more = missingCount > missing.length ? ` and ${missingCount - missing.length} more` : ''
    return broken(
      tried,
      `not found: ${missing.join(', ')}${more}`,
      `${sondeCommand()} explain, with the name of a rule, shows why; the rule starts as soon as the signal is there`,
    )
  }
  const events = (): Finding => {
    const left = limited === 0 ? '' : `; ${countOf(limited, 'event')} left out by limits`
    const room = refused === 0 ? '' : `; ${countOf(refused, 'record')} of series beyond the limit of watched series`
    return fine('events', `${openCount} open, ${folder.events} kept${left}${room}`)
  }
  return [
    { name: 'folder', check: async () => folderFinding(folder) },
    { name: 'events', check: async () => events() },
    { name: 'signals', check: async () => signals() },
  ]
}

function folderFinding({
  dir,
  bytes,
  bytesMax,
  events,
  eventsMax,
  removed,
  failed,
}: TracebackAnswer['folder']): Finding {
  const share = `${percent(bytes / bytesMax)} of traceback.dir_bytes and ${percent(events / eventsMax)} of traceback.events_max used`
  const full = Math.max(bytes / bytesMax, events / eventsMax) > NEARLY_FULL ? '; the oldest events are removed' : ''
  const lost = removed === 0 ? '' : `; ${countOf(removed, 'event')} were removed to make space`
  const told = `${share}${full}${lost}`
  if (failed === 0) return fine(dir, told)
  return broken(
    dir,
    `${told}; ${countOf(failed, 'event')} could not be kept or read`,
    'look in the agent log for the reason',
  )
}

function percent(share: number): string {
  const value = share * 100
  return value > 0 && value < 1 ? 'less than 1 %' : `${Math.round(value)} %`
}
