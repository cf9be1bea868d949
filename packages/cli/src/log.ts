import { escapeTurning } from '@sonde/sdk/internal'
import pino, { type Logger } from 'pino'

/**
 * The log of a command: one JSON object on each line of standard error, written before the call returns. Characters in
 * foreign names that could mislead a terminal are escaped by the rules of JSON.
 */
export function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true })
  const write = (line: string) => void destination.write(escapeTurning(line))
  return pino({ level, errorKey: 'error' }, { write })
}
