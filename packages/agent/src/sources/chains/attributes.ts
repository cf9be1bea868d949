import { dirname } from 'node:path'
import { countOf, shellWord } from '@sonde/sdk/internal'
import { SHORTAGE_FIX } from '../../processor/shortage.ts'
import { type ParseAttribute, wrongWords } from '../attribute-reader.ts'
import { Lack } from '../field-absences.ts'
import { KernelText } from '../kernel-text.ts'
import { type Finding, faulty, fine, type Step } from './chain.ts'
import { type ChainContext, Refusal } from './chain-context.ts'

// Files read as the sources read them, by the same functions: what is told of a value cannot differ from what is made
// of it.

/** A file that a source reads, and what it makes of it. */
export interface Attribute {
  readonly path: string
  readonly parse: ParseAttribute<unknown>
}

/** What came of a look at a file, or at a folder that should list some: what it holds, or a {@link Refusal}. */
export interface AttributeCheck {
  readonly path: string
  readonly found: unknown
  readonly isFolder?: true
}

/** The files behind what is asked of one device. Each is read once, however many links look at it. */
export type Survey = () => Promise<readonly AttributeCheck[]>

/** Files that are named with the command that permits them; beyond it their folders are. */
const NAMED_LIMIT = 3
/** Unit: characters. */
const VALUE_LIMIT = 60

/** Makes a survey of files, and of folders that could not be listed. */
export function surveyOf(
  context: ChainContext,
  listed: () => Promise<readonly (Attribute | AttributeCheck)[]>,
): Survey {
  let checks: Promise<readonly AttributeCheck[]> | undefined
  const check = async () => {
    const looking = (await listed()).map(async (one) =>
      'parse' in one ? { path: one.path, found: await readAs(context, one.path, one.parse) } : one,
    )
    return Promise.all(looking)
  }
  return () => {
    checks ??= check()
    return checks
  }
}

/** Reads a file as its source does. */
export async function readAs<T>(context: ChainContext, path: string, parse: ParseAttribute<T>): Promise<T | Refusal> {
  const bytes = await context.read(path)
  if (bytes instanceof Refusal) return bytes
  const found = parse(bytes)
  if (found instanceof Lack) {
    const { code, reason } = found
    return new Refusal(code === 'gone' || code === 'not_sampled' ? 'failed' : code, 'content', reason)
  }
  return found ?? new Refusal('failed', 'content', `it ${wrongWords(bytes)}`)
}

/** The first line of a file without blanks around it, cut at 100 characters: for names, and for what people compare. */
export function readLine(context: ChainContext, path: string): Promise<string | Refusal> {
  return readAs(context, path, firstLine)
}

/** The same of what was read already. */
export function firstLine(bytes: Uint8Array): string {
  return new KernelText(bytes).lineFrom(0).trim()
}

/** What was found in a file, for people. */
export function valueText(found: unknown): string {
  const isRecord = typeof found === 'object' && !(found instanceof Refusal)
  const text = found instanceof Refusal ? found.words : isRecord ? 'it can be read' : String(found)
  return text.length > VALUE_LIMIT ? `${text.slice(0, VALUE_LIMIT)}…` : text
}

/** What was found at a path of a survey; undefined if it was not read, or gives nothing. */
export function foundAt(checks: readonly AttributeCheck[], path: string): unknown {
  const found = checks.find((check) => check.path === path)?.found
  return found instanceof Refusal ? undefined : found
}

/** Files of a survey that gave nothing, of these kinds. */
export function refusedIn(
  checks: readonly AttributeCheck[],
  ...kinds: readonly Refusal['kind'][]
): (AttributeCheck & { readonly found: Refusal })[] {
  return checks.flatMap((check) =>
    check.found instanceof Refusal && kinds.includes(check.found.kind) ? [{ ...check, found: check.found }] : [],
  )
}

/**
 * Every file of a survey must be readable; what the driver refuses is its `counters` link, not this one. `place` stands
 * for a survey of nothing.
 */
export function permissionStep(survey: Survey, place: string): Step {
  return {
    name: 'permission',
    async check() {
      const checks = await survey()
      const late = refusedIn(checks, 'failed').find(({ found: { code } }) => code === 'late' || code === 'starved')
      if (late !== undefined) {
        const { code, words } = late.found
        return faulty(`read ${late.path}`, code === 'late' ? 'no answer within 2 s' : words, failedFix(late.found))
      }
      const denied = refusedIn(checks, 'denied')
      const [first] = denied
      const more = checks.length - 1
      if (first === undefined)
        return fine(
          `open ${checks[0]?.path ?? place}`,
          `permitted${more > 0 ? `, like ${countOf(more, 'other file')}` : ''}`,
        )
      const answer = denied.length === 1 ? '' : `; ${denied.length} of ${checks.length} files`
      return faulty(`open ${first.path}`, `${first.found.words}${answer}`, permitting(denied))
    },
  }
}

function permitting(denied: readonly AttributeCheck[]): string {
  const folders = denied.filter(({ isFolder }) => isFolder === true).map(({ path }) => path)
  const files = denied.filter(({ isFolder }) => isFolder !== true).map(({ path }) => path)
  const inFolders = () => [...new Set(files.map((path) => `${shellWord(dirname(path))}/*`))]
  const named = files.length > NAMED_LIMIT ? inFolders() : files.map(shellWord)
  const commands = [
    ...(folders.length > 0 ? [`sudo chmod a+rx ${folders.map(shellWord).join(' ')}`] : []),
    ...(named.length > 0 ? [`sudo chmod a+r ${named.join(' ')}`] : []),
  ]
  return `${commands.join('; ')}, or run Sonde as a user who may read ${denied.length === 1 ? 'it' : 'them'}`
}

/**
 * The first file that could not be read for no reason that a driver gives, or that holds something else than it should;
 * undefined if there is none.
 */
export function failedIn(checks: readonly AttributeCheck[]): Finding | undefined {
  const failed = refusedIn(checks, 'failed')
  const [first] = failed
  if (first === undefined) return undefined
  const others = failed.length === 1 ? '' : `; ${failed.length} of ${checks.length} files are like that`
  return faulty(first.path, `${first.found.words}${others}`, failedFix(first.found))
}

function failedFix({ code }: Refusal): string {
  if (code === 'starved') return SHORTAGE_FIX
  if (code === 'content')
    return 'look at the driver and its version, and at what is mounted there: such content gives no value'
  return 'look in dmesg why the driver or its firmware does not answer'
}
