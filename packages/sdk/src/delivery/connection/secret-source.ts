import * as v from 'valibot'
import { boundedText, pattern } from '../../config/kit.ts'
import { secret } from '../../config/secret.ts'
import { readTextFileNow } from '../../internal/text-file.ts'
import { OptionFault } from './option-fault.ts'

/** Largest secret. Unit: characters. */
const LENGTH_MAX = 16_384
const FILE_BYTES_MAX = 64 << 10
/** A secret is one line: a line break in a header or a handshake would be a forgery. */
const ONE_LINE = /^[^\p{Cc}]+$/u

/** The sources of a secret, which exclude each other: the option itself, a file, or a variable of the environment. */
export type SecretOptions<K extends string> = {
  readonly [P in K | `${K}File` | `${K}Env`]?: string | undefined
}

function valueEntry(what: string) {
  return v.optional(
    v.pipe(
      secret(boundedText(1, LENGTH_MAX)),
      v.description(`${what}. No page, log or print-out shows it; a file or a variable is safer`),
    ),
  )
}

function fileEntry(what: string) {
  return v.optional(v.pipe(boundedText(1, 4096), v.description(`File with one line: ${what}`)))
}

function variableEntry(what: string) {
  return v.optional(
    v.pipe(
      pattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'the name of a variable of the environment, such as COLLECTOR_TOKEN'),
      v.description(`Variable of the environment with ${what}`),
    ),
  )
}

type SecretEntries<K extends string> = { readonly [P in K]: ReturnType<typeof valueEntry> } & {
  readonly [P in `${K}File`]: ReturnType<typeof fileEntry>
} & { readonly [P in `${K}Env`]: ReturnType<typeof variableEntry> }

/**
 * Schema entries of a secret: `password`, `passwordFile` and `passwordEnv`.
 *
 * @param key The option, as programs spell it.
 * @param what The secret in words, such as `the password`.
 */
export function secretEntries<const K extends string>(key: K, what: string): SecretEntries<K> {
  const named = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`
  const entries = { [key]: valueEntry(named), [`${key}File`]: fileEntry(what), [`${key}Env`]: variableEntry(what) }
  return entries as SecretEntries<K>
}

/**
 * The secret, as its file or variable has it now; undefined if none of the three options is given. Call it before each
 * use: a token of Kubernetes is a file that changes.
 *
 * @throws OptionFault if two options are given, the file cannot be read, the variable is not set, or the secret is not
 * a single line.
 */
export function readSecret<K extends string>(
  key: K,
  options: SecretOptions<K>,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  const sources: Readonly<Record<string, string | undefined>> = options
  const given = [key, `${key}File`, `${key}Env`].filter((each) => sources[each] !== undefined)
  const [first, second] = given
  if (first === undefined) return undefined
  if (second !== undefined) throw new OptionFault(second, `is given beside ${first}`, 'one of the two')
  const named = sources[first] ?? ''
  if (first === `${key}File`) return oneLine(first, `is ${JSON.stringify(named)}, which`, secretFileText(first, named))
  if (first === key) return oneLine(first, 'is a text that', named)
  const value = environment[named]
  if (value === undefined)
    throw new OptionFault(first, `is ${JSON.stringify(named)}, which is not set`, 'a variable that is set')
  return oneLine(first, `is ${JSON.stringify(named)}, which`, value)
}

function secretFileText(key: string, path: string): string {
  const fault = (_: 'read' | 'limit', why: string, cause?: unknown) =>
    new OptionFault(key, `is ${JSON.stringify(path)}, which ${why}`, 'a readable file with one line', cause)
  return readTextFileNow({ path, limitBytes: FILE_BYTES_MAX, fault }).replace(/\r?\n$/, '')
}

function oneLine(key: string, subject: string, text: string): string {
  if (text.length <= LENGTH_MAX && ONE_LINE.test(text)) return text
  const why = text === '' ? 'is empty' : 'has several lines, control characters or too much text'
  throw new OptionFault(key, `${subject} ${why}`, `one line of at most ${LENGTH_MAX} characters`)
}
