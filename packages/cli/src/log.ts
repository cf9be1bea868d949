import { escapeTurning } from '@sonde/sdk/internal'
import pino, { type Logger } from 'pino'

/**
 * The log of a command: one JSON object a line on standard error, written before the call returns. In names from
 * outside, characters that would make a terminal show another name are escaped as JSON has it.
 */
export function openLog(level: string): Logger {
  const destination = pino.destination({ dest: 2, sync: true })
  const write = (line: string) => void destination.write(escapeTurning(line))
  return pino({ level, errorKey: 'error' }, { write })
}
