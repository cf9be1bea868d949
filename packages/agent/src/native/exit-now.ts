import koffi from './foreign.ts'

/** Ends the process without waiting for its threads: `process.exit` joins them, and a call that hangs never ends. */
export function exitNow(code: number): void {
  const exit = koffi.load(null).func('void _exit(int status)')
  exit(code)
}
