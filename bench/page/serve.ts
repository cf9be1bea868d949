import { spawn } from 'node:child_process'

/** A server of a benchmark, in a process of its own. */
export interface Served {
  readonly address: string
  readonly stop: () => Promise<void>
}

/** Starts one of the `*-main.ts` beside this file and waits for its ready line. */
export async function serve(main: string, args: readonly string[]): Promise<Served> {
  const path = new URL(main, import.meta.url).pathname
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const address = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const found = /ready on (\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
  })
  return {
    address,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
