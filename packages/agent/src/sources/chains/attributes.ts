import { dirname } from 'node:path'
import { countOf, shellWord } from '@sonde/sdk/internal'
import { SHORTAGE_FIX } from '../../processor/shortage.ts'
import { type ParseAttribute, wrongWords } from '../attribute-reader.ts'
import { Missing } from '../field-absences.ts'
import { KernelText } from '../kernel-text.ts'
import { type Finding, faulty, fine, type Step } from './chain.ts'
import { type ChainContext, ReadRefusal } from './chain-context.ts'

// Reads files with the parsers of the sources, so an explanation cannot contradict the source.

/** A file that a source reads, and its parser. */
export interface Attribute {
  readonly path: string
  readonly parse: ParseAttribute<unknown>
}

/** The result of reading a file, or of listing a folder: its content, or a {@link ReadRefusal}. */
export interface AttributeCheck {
  readonly path: string
  readonly found: unknown
  readonly isFolder?: true
}

/** Reads the files behind a value or a device. Each file is read once, however many steps use it. */
export type Survey = () => Promise<readonly AttributeCheck[]>

/** Up to so many files are named in the command that permits them. Beyond that, the command names their folders. */
const NAMED_LIMIT = 3
/** Unit: characters. */
const VALUE_LIMIT = 60

/** Creates a survey of files, and of folders that could not be listed. */
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

/** Reads a file with the parser of its source. */
export async function readAs<T>(
  context: ChainContext,
  path: string,
  parse: ParseAttribute<T>,
): Promise<T | ReadRefusal> {
  const bytes = await context.read(path)
  if (bytes instanceof ReadRefusal) return bytes
  const found = parse(bytes)
  if (found instanceof Missing) {
    const { code, reason } = found
    return new ReadRefusal(code === 'gone' || code === 'not_sampled' ? 'failed' : code, 'content', reason)
  }
  return found ?? new ReadRefusal('failed', 'content', `it ${wrongWords(bytes)}`)
}

/** Reads the first line of a file, without surrounding blanks, cut at 100 characters. */
export function readLine(context: ChainContext, path: string): Promise<string | ReadRefusal> {
  return readAs(context, path, firstLine)
}

/** Returns the first line of bytes that were read, without surrounding blanks, cut at 100 characters. */
export function firstLine(bytes: Uint8Array): string {
  return new KernelText(bytes).lineFrom(0).trim()
}

/** Formats the content of a file for people. */
export function valueText(found: unknown): string {
  const isRecord = typeof found === 'object' && !(found instanceof ReadRefusal)
  const text = found instanceof ReadRefusal ? found.words : isRecord ? 'it can be read' : String(found)
  return text.length > VALUE_LIMIT ? `${text.slice(0, VALUE_LIMIT)}…` : text
}

/** Returns the content at a path of a survey; undefined if the path was not read or was refused. */
export function foundAt(checks: readonly AttributeCheck[], path: string): unknown {
  const found = checks.find((check) => check.path === path)?.found
  return found instanceof ReadRefusal ? undefined : found
}

/** Returns the files of a survey that were refused with one of these kinds. */
export function refusedIn(
  checks: readonly AttributeCheck[],
  ...kinds: readonly ReadRefusal['kind'][]
): (AttributeCheck & { readonly found: ReadRefusal })[] {
  return checks.flatMap((check) =>
    check.found instanceof ReadRefusal && kinds.includes(check.found.kind) ? [{ ...check, found: check.found }] : [],
  )
}

/**
 * Checks that this user may read every file of a survey. Files that the driver refuses belong to the step `counters`.
 * `place` is named if the survey is empty.
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
 * Returns the finding about the first file that failed: a read without a reason from the driver, or wrong content.
 * Undefined if none failed.
 */
export function failedIn(checks: readonly AttributeCheck[]): Finding | undefined {
  const failed = refusedIn(checks, 'failed')
  const [first] = failed
  if (first === undefined) return undefined
  const others = failed.length === 1 ? '' : `; ${failed.length} of ${checks.length} files failed`
  return faulty(first.path, `${first.found.words}${others}`, failedFix(first.found))
}

function failedFix({ code }: ReadRefusal): string {
  if (code === 'starved') return SHORTAGE_FIX
  if (code === 'content')
    return 'check the driver, its version, and the mount at this path: such content gives no value'
  return 'look in dmesg why the driver or its firmware does not answer'
}
