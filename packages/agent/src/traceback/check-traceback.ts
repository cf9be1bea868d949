import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '@sonde/sdk'
import { checkFoldersNow, countOf, lockFile } from '@sonde/sdk/internal'
import { readRuleBook } from '../rules/read/read-rule-book.ts'
import { RuleFaults } from '../rules/read/rule-faults.ts'
import { readRulesText, rulesFaultOf } from './book/rules-text.ts'
import { defaultTracebackDir, type TracebackConfig } from './config.ts'
import { EVENTS_LOCK } from './keep/disk.ts'

const GIB = 2 ** 30

/** What was found of traceback, without changing anything. */
export interface TracebackFinding {
  readonly of: 'rules' | 'events'
  /**
   * `ok`, `present`: fit for use. `warning`: allowed, and hardly meant. `absent`: it is made at the first event.
   * `short`: there is less room than is configured. `damaged`: the rules are not sound. `taken`: another process has
   * the folder.
   */
  readonly state: 'ok' | 'warning' | 'present' | 'absent' | 'short' | 'damaged' | 'denied' | 'taken'
  readonly found: string
}

/**
 * Looks whether the rules are sound, each fault a finding, and whether events can be kept. Nothing is found where the
 * configuration has neither rules nor a folder.
 */
export async function checkTraceback(config: TracebackConfig): Promise<TracebackFinding[]> {
  const { rules, dir } = config
  const found = rules === undefined ? [] : await rulesFindings(rules)
  return rules === undefined && dir === undefined ? found : [...found, folderFinding(config)]
}

async function rulesFindings(path: string): Promise<TracebackFinding[]> {
  let text: string | undefined
  try {
    text = await readRulesText(path)
  } catch (error) {
    return [{ of: 'rules', state: 'denied', found: rulesFaultOf(path, error) }]
  }
  try {
    const { book, warnings } = readRuleBook(text ?? '')
    const counts = `${countOf(book.rules.length, 'rule')} on ${countOf(book.signals.length, 'signal')}`
    return [
      { of: 'rules', state: 'ok', found: `${path}, ${counts}` },
      ...warnings.map((warning) => ({ of: 'rules', state: 'warning', found: warning }) as const),
    ]
  } catch (error) {
    const faults = error instanceof RuleFaults ? error.faults : [messageOf(error)]
    return faults.map((fault) => ({ of: 'rules', state: 'damaged', found: `${path}: ${fault}` }))
  }
}

function folderFinding({
  dir = defaultTracebackDir(),
  dir_bytes: bytesMax,
  max_event_bytes: eventBytes,
}: TracebackConfig): TracebackFinding {
  const of = 'events'
  try {
    const isThere = checkFoldersNow(dir)
    if (isThere && isTaken(dir)) {
      const found = `another process keeps its events in ${dir}; stop that one, or give traceback.dir, or --data-dir, another folder`
      return { of, state: 'taken', found }
    }
    const freeBytes = freeIn(dir)
    const room = freeBytes + (isThere ? bytesIn(dir) : 0)
    const free = `${(freeBytes / GIB).toFixed(1)} GiB are free`
    if (room < eventBytes) {
      const found = `ENOSPC: ${dir}: ${free}, and an event takes up to traceback.max_event_bytes, ${eventBytes}`
      return { of, state: 'denied', found }
    }
    if (room < bytesMax) {
      const found = `${dir}, ${free}: less than traceback.dir_bytes, ${bytesMax}; older events leave earlier`
      return { of, state: 'short', found }
    }
    if (isThere) return { of, state: 'present', found: `${dir}, ${free}` }
    return { of, state: 'absent', found: `${dir} is made with the first event, ${free}` }
  } catch (error) {
    return { of, state: 'denied', found: `${messageOf(error)}; give traceback.dir, or --data-dir, another folder` }
  }
}

/** Whether a process has the lock of the folder. Who asks for a lock makes it where it is missing. */
function isTaken(dir: string): boolean {
  const path = join(dir, EVENTS_LOCK)
  if (!existsSync(path)) return false
  const lock = lockFile(path)
  lock?.close()
  return lock === undefined
}

/** What the folder takes: it counts as room, for the oldest events leave. Unit: bytes. */
function bytesIn(dir: string): number {
  return readdirSync(dir).reduce(
    (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/** What is free for the folder, or the nearest above it that there is. Unit: bytes. */
function freeIn(dir: string): number {
  if (!existsSync(dir)) return freeIn(dirname(dir))
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}
