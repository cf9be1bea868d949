import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs'
import { type ReadRules, RuleFaults, readRuleBook } from '@sonde/agent'
import { RULE_LIMITS } from '@sonde/agent/config'
import { SondeError } from '@sonde/sdk'
import { dataFault, readBytesNow, readGivenFile } from '@sonde/sdk/internal'
import { ConfigError } from '../../config/config-error.ts'
import { systemReason } from '../../config/file.ts'

/** A failure with an exit code of the reference application. */
export class ExitError extends SondeError {
  readonly exitCode: number

  constructor(code: string, message: string, exitCode: number) {
    super(code, message)
    this.exitCode = exitCode
  }
}

/** Exit codes of the reference application for a rules file that cannot be loaded: errors of DOCA. */
const DOCA_EXIT = { empty: 6, notThere: 16, readError: 17, directory: 1, tooLarge: 1 } as const

/**
 * Largest rules file, also with `--compat`. The reference application takes any size, but its parser needs many times
 * the memory. Unit: bytes.
 */
const COMPAT_FILE_BYTES = 4 << 20

/** Reads a rules file strictly. @throws ConfigError with each fault. */
export function readRulesFile(path: string): ReadRules {
  const limitBytes = RULE_LIMITS.fileBytes
  let bytes: Uint8Array | undefined
  try {
    if (statSync(path).isDirectory()) throw new Error('it is a directory')
    bytes = readGivenFile(path, limitBytes)
  } catch (error) {
    throw new ConfigError([`--rules ${path} cannot be read: ${systemReason(error)}`])
  }
  if (bytes === undefined) throw new ConfigError([`--rules ${path} is larger than ${limitBytes} bytes`])
  try {
    return readRuleBook(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (error) {
    if (error instanceof RuleFaults) throw new ConfigError(error.faults.map((fault) => `${path}: ${fault}`))
    if (error instanceof SondeError) throw new ConfigError([`${path}: ${error.message}`])
    throw new ConfigError([`${path} is no UTF-8 text`])
  }
}

/** Reads a rules file as bytes, with the exit codes of the reference application. @throws ExitError */
export function readRulesBytes(path: string): string {
  const fail = (why: string, exitCode: number): never => {
    throw new ExitError('RUL_READ', `--rules ${path} ${why}`, exitCode)
  }
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    return fail(`cannot be read: ${systemReason(error)}`, DOCA_EXIT.notThere)
  }
  try {
    const stats = fstatSync(file)
    if (stats.isDirectory()) return fail('is a directory, which crashes the reference application', DOCA_EXIT.directory)
    if (!stats.isFile()) return fail('is no regular file', DOCA_EXIT.notThere)
    const why = dataFault(stats)
    if (why !== '') return fail(why, DOCA_EXIT.notThere)
    if (stats.size === 0) return fail('is empty', DOCA_EXIT.empty)
    const bytes = readBytesNow(file, COMPAT_FILE_BYTES)
    return bytes?.toString('latin1') ?? fail(`is larger than ${COMPAT_FILE_BYTES} bytes`, DOCA_EXIT.tooLarge)
  } catch (error) {
    if (error instanceof ExitError) throw error
    return fail(`cannot be read: ${systemReason(error)}`, DOCA_EXIT.readError)
  } finally {
    closeSync(file)
  }
}
