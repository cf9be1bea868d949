import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { checkFoldersNow, countOf, lockFile, messageOf } from '@sonde/sdk/internal'
import { readRuleBook } from '../rules/read/read-rule-book.ts'
import { RuleFaults } from '../rules/read/rule-faults.ts'
import { readRulesText, rulesFault } from './book/rules-text.ts'
import { defaultTracebackDir, type TracebackConfig } from './config.ts'
import { EVENTS_LOCK } from './keep/disk.ts'

const GIB = 2 ** 30

/** A finding about traceback. Checks change nothing. */
export interface TracebackFinding {
  readonly of: 'rules' | 'events'
  /**
   * `ok`, `present`: usable. `warning`: allowed, but probably a mistake. `absent`: created with the first event.
   * `short`: less free space than configured. `damaged`: the rules are invalid. `taken`: another process uses the
   * folder.
   */
  readonly state: 'ok' | 'warning' | 'present' | 'absent' | 'short' | 'damaged' | 'denied' | 'taken'
  readonly found: string
}

/**
 * Checks the rules, with a finding for each fault, and whether events can be kept. No findings if the configuration has
 * neither rules nor a folder.
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
    return [{ of: 'rules', state: 'denied', found: rulesFault(path, error) }]
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
      const found = `another process keeps its events in ${dir}; stop that process, or set another folder as traceback.dir or --data-dir`
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
      const found = `${dir}, ${free}: less than traceback.dir_bytes, ${bytesMax}; old events are removed earlier`
      return { of, state: 'short', found }
    }
    if (isThere) return { of, state: 'present', found: `${dir}, ${free}` }
    return { of, state: 'absent', found: `${dir} is created with the first event, ${free}` }
  } catch (error) {
    return { of, state: 'denied', found: `${messageOf(error)}; set another folder as traceback.dir or --data-dir` }
  }
}

/**
 * Whether another process has the lock of the folder. Taking the lock would create a missing file, so this checks for
 * the file first.
 */
function isTaken(dir: string): boolean {
  const path = join(dir, EVENTS_LOCK)
  if (!existsSync(path)) return false
  const lock = lockFile(path)
  lock?.close()
  return lock === undefined
}

/** Size of the folder's files. It counts as free space, because the oldest events are removed. Unit: bytes. */
function bytesIn(dir: string): number {
  return readdirSync(dir).reduce(
    (sum, name) => sum + (statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/** Free space of the folder, or of its nearest existing parent. Unit: bytes. */
function freeIn(dir: string): number {
  if (!existsSync(dir)) return freeIn(dirname(dir))
  const { bavail, bsize } = statfsSync(dir)
  return bavail * bsize
}
