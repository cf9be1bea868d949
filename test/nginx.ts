import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { until } from '../packages/sdk/test/helper.ts'
import { programPath } from './debian.ts'

/**
 * Starts nginx on a free port of the loopback interface; it ends with the test.
 *
 * @param folder Its files.
 * @param blocks Returns the `http` or `stream` block for a port, after the modules that it loads.
 */
export async function startNginx(t: TestContext, folder: string, blocks: (port: number) => string): Promise<number> {
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  // Modules must be loaded before any block.
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${join(folder, 'pid')}; error_log stderr;\n${blocks(port)}\nevents {}\n`,
  )
  const nginx = spawn(programPath('nginx') ?? 'nginx', ['-c', file, '-p', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  nginx.stderr.on('data', (bytes) => {
    said += String(bytes)
  })
  const ended = once(nginx, 'exit')
  t.after(async () => {
    nginx.kill('SIGTERM')
    await ended
  })
  await until('nginx listens', () => {
    assert.equal(nginx.exitCode, null, said)
    return isListening(port)
  })
  return port
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
