import { Worker } from 'node:worker_threads'
import { SondeError } from '@sonde/sdk'
import { RULES_MODULE } from '../../places.ts'
import { type ReadRules, readRuleBook } from '../../rules/read/read-rule-book.ts'

/** The worker's answer. */
export type ReadAnswer = { readonly read: ReadRules } | { readonly fault: string }

/** Longest text that is read within a turn. A longer text would block the agent. Unit: bytes. */
const HERE_BYTES_MAX = 2048
/** Longest reading time; beyond it the file is refused. Unit: milliseconds. */
const READ_LIMIT_MS = 30_000
/** Memory of the worker. Unit: MiB. */
const MEMORY_MIB = 256

/**
 * Reads a file of rules without blocking the agent: a long file is read in a separate worker.
 * @throws SondeError `TRB_RULES` with the fault.
 */
export function readInWorker(text: string): ReadRules | Promise<ReadRules> {
  return text.length <= HERE_BYTES_MAX ? readRuleBook(text) : readThere(text)
}

async function readThere(text: string): Promise<ReadRules> {
  const limits = { maxOldGenerationSizeMb: MEMORY_MIB }
  const worker = new Worker(RULES_MODULE, { workerData: text, resourceLimits: limits })
  worker.unref()
  const { promise, resolve, reject } = Promise.withResolvers<ReadAnswer>()
  const refuse = (reason: string) => reject(new SondeError('TRB_RULES', `the rules cannot be read: ${reason}`))
  worker.once('message', resolve)
  worker.once('error', (error: Error) => refuse(error.message))
  worker.once('exit', () => refuse('their reader ended'))
  const timer = setTimeout(() => refuse(`it takes more than ${READ_LIMIT_MS} ms`), READ_LIMIT_MS).unref()
  try {
    const answer = await promise
    if ('fault' in answer) throw new SondeError('TRB_RULES', answer.fault)
    return answer.read
  } finally {
    clearTimeout(timer)
    void worker.terminate()
  }
}
