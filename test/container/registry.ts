import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { until } from '../sonde-process.ts'

const START_LIMIT_MS = 60_000

/** Debian's registry on a free port, with the images in a folder of its own. */
export interface Registry {
  /** `host:port`. */
  readonly address: string
  /** Copies all images of a layout under a name. */
  push(layout: string, name: string): Promise<void>
  /** The digest under which the registry has a name. */
  digestOf(name: string): Promise<string>
  close(): Promise<void>
}

/** Starts a registry. */
export async function startRegistry(): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-registry-'))
  const config = {
    version: 0.1,
    storage: { filesystem: { rootdirectory: folder } },
    http: { addr: '127.0.0.1:0' },
  }
  const file = join(folder, 'config.yml')
  // JSON is YAML too.
  writeFileSync(file, JSON.stringify(config))
  const child = spawn('docker-registry', ['serve', file], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString()
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const address = await until('the registry to listen', START_LIMIT_MS, () => {
    if (child.exitCode !== null) throw new Error(`docker-registry ended with ${child.exitCode}:\n${log}`)
    return /listening on (127\.0\.0\.1:\d+)/.exec(log)?.[1]
  })
  return {
    address,
    async push(layout, name) {
      const copy = ['copy', '--all', '--dest-tls-verify=false', `oci:${layout}`, `docker://${address}/${name}`]
      await promisify(execFile)('skopeo', copy)
    },
    async digestOf(name) {
      const [repository = '', tag = ''] = name.split(':')
      const accept = 'application/vnd.oci.image.index.v1+json'
      const answer = await fetch(`http://${address}/v2/${repository}/manifests/${tag}`, { headers: { accept } })
      return answer.headers.get('docker-content-digest') ?? `${answer.status}`
    },
    async close() {
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
