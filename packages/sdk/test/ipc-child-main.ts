// A process for the tests of IPC, to be killed or to end by itself: `node ipc-child-main.ts peer SOCKETS_DIR STORE`,
// `node ipc-child-main.ts report SOCKETS_DIR HOW`, `node ipc-child-main.ts full SHARED_DIR`.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIpc, createSource } from '../src/index.ts'
import { IpcPeer } from './ipc-peer.ts'
import { FILLERS, serialsOf, wideType } from './ipc-rig.ts'

const [, , mode, directory = '', argument = ''] = process.argv
const COUNT = 5000

/**
 * Takes pages until it is killed: each is a line in a file before it is acknowledged, and is known by it afterwards.
 */
async function servePages(): Promise<void> {
  const last = new Map<bigint, bigint>()
  if (existsSync(argument)) {
    const text = readFileSync(argument, 'utf8')
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    writeFileSync(argument, whole)
    for (const line of whole.split('\n')) {
      const [client = '', sequence = ''] = line.split(' ')
      if (client !== '') last.set(BigInt(client), BigInt(sequence))
    }
  }
  const peer = new IpcPeer({
    socketsDir: directory,
    lastSequence: (client) => last.get(client) ?? 0n,
    take(page) {
      appendFileSync(argument, `${page.client} ${page.sequence} ${serialsOf([page]).join(' ')}\n`)
      last.set(page.client, page.sequence)
    },
  })
  await peer.listen()
  process.stdout.write('ready\n')
}

/** Reports once it is connected, and ends. */
async function reportAndEnd(): Promise<void> {
  const sink = createIpc({ socketsDir: directory, socketTimeoutMs: 20_000 })
  const source = createSource({ id: 'child', emit: (batch) => sink.accept(batch) })
  const report = () => {
    for (let serial = 0; serial < COUNT; serial++) source.report(wideType, { serial, ...FILLERS })
    void source.flush()
  }
  if (argument === 'end') report()
  while (argument === 'exit' && sink.status().mode !== 'shared') await new Promise((resolve) => setImmediate(resolve))
  if (argument === 'exit') {
    report()
    process.exit()
  }
  if (argument === 'wait') {
    report()
    setInterval(() => undefined, 1000)
  }
}

/** Peer and client in one process, whose shared memory is too small. */
async function fillMemory(): Promise<void> {
  const socketsDir = mkdtempSync(join(tmpdir(), 'sonde-ipc-'))
  const peer = new IpcPeer({ socketsDir })
  await peer.listen()
  const sink = createIpc({ socketsDir, sharedDir: directory, program: 'full' })
  const source = createSource({ id: 'child', emit: (batch) => sink.accept(batch) })
  while (sink.status().mode !== 'shared') await new Promise((resolve) => setImmediate(resolve))
  for (let serial = 0; serial < COUNT; serial++) source.report(wideType, { serial, ...FILLERS })
  void source.flush()
  await sink.flush()
  const { inlineReason } = sink.status()
  const shared = peer.pages.filter(({ isShared }) => isShared).length
  process.stdout.write(`${JSON.stringify({ inlineReason, shared, taken: serialsOf(peer.pages).length })}\n`)
  process.exit()
}

if (mode === 'peer') await servePages()
else if (mode === 'report') await reportAndEnd()
else await fillMemory()
