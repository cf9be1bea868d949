// Reads the text of a file of rules in a worker.
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '@sonde/sdk/internal'
import { readRuleBook } from '../../rules/read/read-rule-book.ts'
import type { ReadAnswer } from './read-in-worker.ts'

function answer(text: string): ReadAnswer {
  try {
    return { read: readRuleBook(text) }
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

parentPort?.postMessage(answer(String(workerData)))
