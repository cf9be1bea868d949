import type { FolderFacts, TracebackAnswer } from '@sonde/sdk/api'
import { closest } from '@sonde/sdk/config'
import type { Agent } from '../agent.ts'
import { defaultTracebackDir, tracebackDefaults } from '../traceback/config.ts'
import { ruleState } from './rule-state.ts'

/** Most missing signals in one answer. */
const NAMED_LIMIT = 8
/** Most names that are compared with an unknown name. */
const COMPARED_LIMIT = 2048

/** State of traceback in an agent, and of one of its rules if a name is given. */
export async function tracebackState(agent: Agent, wanted?: string): Promise<TracebackAnswer> {
  const { rules, ruleWatch, traceback } = agent
  await Promise.all([traceback.opened(), ruleWatch.renew()])
  const book = rules?.book
  const devices = ruleWatch.devices()
  const missing = new Set<string>()
  for (const rule of book?.rules ?? [])
    if ('test' in rule && !devices.has(rule.name)) missing.add(book?.signals[rule.signal]?.name ?? '')
  const rule = wanted === undefined || book === undefined ? undefined : await ruleState(agent, book, wanted)
  const names = book?.rules.slice(0, COMPARED_LIMIT).map(({ name }) => name) ?? []
  const near = wanted === undefined || rule !== undefined ? undefined : closest(wanted, names)
  return {
    path: rules?.path ?? '',
    takenMs: rules?.takenMs ?? 0,
    takenCount: rules?.takenCount ?? 0,
    fault: rules?.fault ?? '',
    ruleCount: book?.rules.length ?? 0,
    signalCount: book?.signals.length ?? 0,
    missing: [...missing].slice(0, NAMED_LIMIT),
    missingCount: missing.size,
    folder: folderFacts(agent),
    openCount: traceback.openCount,
    limited: traceback.limitedTotal(),
    refused: ruleWatch.stats.dropped.get('series_limit') ?? 0,
    ...(rule === undefined ? {} : { rule }),
    ...(near === undefined ? {} : { nearest: [near] }),
  }
}

function folderFacts({ traceback: { archive }, options }: Agent): FolderFacts {
  const config = options.config.traceback ?? tracebackDefaults
  const { bytes, count: events, removed, failed } = archive
  const { dir = defaultTracebackDir(), dir_bytes: bytesMax, events_max: eventsMax } = config
  return { dir, bytes, bytesMax, events, eventsMax, removed, failed }
}
