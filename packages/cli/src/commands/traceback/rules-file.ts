import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { type ReadRules, RULE_LIMITS, RuleFaults, readRuleBook } from '@sonde/agent'
import { messageOf, SondeError } from '@sonde/sdk'
import { ConfigError } from '../../config/config-error.ts'

/** A failure whose exit code is told apart, as the reference application does. */
export class ExitError extends SondeError {
  readonly exitCode: number

  constructor(code: string, message: string, exitCode: number) {
    super(code, message)
    this.exitCode = exitCode
  }
}

/** Exit codes of the reference application for a file of rules that cannot be loaded: errors of DOCA. */
const DOCA_EXIT = { empty: 6, notThere: 16, readError: 17, directory: 1, tooLarge: 1 } as const

/**
 * With `--compat` a file of rules is larger in no case: the reference application takes any size, and its parser many
 * times the memory. Unit: bytes.
 */
const COMPAT_FILE_BYTES = 4 << 20

/** Reads a file of rules strictly. @throws ConfigError with each fault. */
export function readRulesFile(path: string): ReadRules {
  let bytes: Buffer
  try {
    bytes = readOpened(path, RULE_LIMITS.fileBytes)
  } catch (error) {
    throw new ConfigError([`--rules ${path} cannot be read: ${messageOf(error)}`])
  }
  try {
    return readRuleBook(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    if (error instanceof RuleFaults) throw new ConfigError(error.faults.map((fault) => `${path}: ${fault}`))
    if (error instanceof SondeError) throw new ConfigError([`${path}: ${error.message}`])
    throw new ConfigError([`${path} is no UTF-8 text`])
  }
}

function readOpened(path: string, bytesMax: number): Buffer {
  const file = openSync(path, 'r')
  try {
    if (fstatSync(file).isDirectory()) throw new Error('it is a directory')
    return readWhole(file, bytesMax)
  } finally {
    closeSync(file)
  }
}

/** All bytes of a file. @throws Error where there are more than there may be. */
function readWhole(file: number, bytesMax: number): Buffer {
  // A pipe or a device has no size, and perhaps no end.
  const bytes = Buffer.alloc(bytesMax + 1)
  let length = 0
  for (let read = -1; read !== 0 && length <= bytesMax; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null)
  if (length > bytesMax) throw new Error(`it is larger than ${bytesMax} bytes`)
  return bytes.subarray(0, length)
}

/** Reads a file of rules as bytes, with the exit codes of the reference application. @throws ExitError */
export function readRulesBytes(path: string): string {
  const fail = (why: string, exitCode: number): never => {
    throw new ExitError('RUL_READ', `--rules ${path} ${why}`, exitCode)
  }
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    return fail(`cannot be read: ${messageOf(error)}`, DOCA_EXIT.notThere)
  }
  try {
    const stats = fstatSync(file)
    if (stats.isDirectory()) return fail('is a directory, which crashes the reference application', DOCA_EXIT.directory)
    if (!stats.isFile()) return fail('is no regular file', DOCA_EXIT.notThere)
    if (stats.size === 0) return fail('is empty', DOCA_EXIT.empty)
    if (stats.size > COMPAT_FILE_BYTES)
      return fail(`has ${stats.size} bytes; allowed: ${COMPAT_FILE_BYTES}`, DOCA_EXIT.tooLarge)
    return readWhole(file, COMPAT_FILE_BYTES).toString('latin1')
  } catch (error) {
    if (error instanceof ExitError) throw error
    return fail(`cannot be read: ${messageOf(error)}`, DOCA_EXIT.readError)
  } finally {
    closeSync(file)
  }
}
