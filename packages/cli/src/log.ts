import pino, { type Logger } from 'pino'

/** The log of a command: one JSON object a line on standard error, written before the call returns. */
export function openLog(level: string): Logger {
  return pino({ level, errorKey: 'error' }, pino.destination({ dest: 2, sync: true }))
}
