import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { codeFault, messageOf } from '@sonde/sdk/internal'

const PROGRAM = 'nvidia-smi'
const LIMIT_MS = 30_000
/** Attempts to ask: each leaves out a field that this version does not know. */
const ATTEMPTS_MAX = 40

/** Values of GPUs as `nvidia-smi` prints them: by UUID, then by the name of the field. */
export interface PrintedValues {
  readonly gpus: ReadonlyMap<string, ReadonlyMap<string, string>>
  /** Fields that this version does not know. */
  readonly unknown: ReadonlySet<string>
}

/** Asks `nvidia-smi` for fields of all GPUs. @returns The values, or why there are none. */
export async function askNvidiaSmi(fields: readonly string[]): Promise<PrintedValues | string> {
  const path = (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, PROGRAM))
    .find(isProgram)
  if (path === undefined) return `no ${PROGRAM} in PATH`
  const fault = codeFault(path)
  if (fault !== '') return `${PROGRAM} is not started: ${fault}`
  const unknown = new Set<string>()
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const asked = fields.filter((field) => !unknown.has(field))
    const printed = await run(path, asked)
    if (typeof printed !== 'string') return printed.fault
    const [, refused] = /Field "([^"]+)" is not a valid field/.exec(printed) ?? []
    if (refused === undefined) return { gpus: parsePrinted(printed, asked), unknown }
    if (!asked.includes(refused)) return `${PROGRAM} refuses a field that it was not asked for`
    unknown.add(refused)
  }
  return `${PROGRAM} knows too few fields`
}

/** Parses lines of `--format=csv,noheader,nounits`, whose first value is the UUID. */
function parsePrinted(text: string, fields: readonly string[]): Map<string, Map<string, string>> {
  const lines = text.split('\n').filter((line) => line.includes(','))
  return new Map(
    lines.map((line) => {
      const [uuid = '', ...values] = line.split(',').map((value) => value.trim())
      return [uuid, new Map(fields.map((field, at) => [field, values[at] ?? '']))]
    }),
  )
}

async function run(path: string, fields: readonly string[]): Promise<string | { readonly fault: string }> {
  const query = `--query-gpu=${['uuid', ...fields].join(',')}`
  try {
    const { stdout } = await promisify(execFile)(path, [query, '--format=csv,noheader,nounits'], { timeout: LIMIT_MS })
    return stdout
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string }
    // It prints the field that it does not know to stdout, and ends with a code.
    return stdout.includes('not a valid field') ? stdout : { fault: `${PROGRAM} failed: ${messageOf(error)}` }
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
