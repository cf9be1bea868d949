import type { Running } from './run.ts'

const STOP_LIMIT_MS = 4500

/** Runs until SIGINT or SIGTERM, then closes within the limit; what hangs longer is left behind. Resolves with the exit code. */
export async function untilSignal(starting: Promise<Running>): Promise<number> {
  const signal = new Promise<'signal'>((resolve) => {
    process.once('SIGTERM', () => resolve('signal'))
    process.once('SIGINT', () => resolve('signal'))
  })
  const first = await Promise.race([signal, starting])
  if (first !== 'signal') await signal
  const limit = new Promise<number>((resolve) => setTimeout(() => resolve(1), STOP_LIMIT_MS).unref())
  return Promise.race([limit, starting.then((running) => running.close()).then(() => 0)])
}
