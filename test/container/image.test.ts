// The container image, as a registry and a node have it.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { writeTree } from '../../bench/idle/tree.ts'
import { root } from '../../scripts/setup.mjs'
import { metricsOf, numberOn } from '../ask.ts'
import { Cgroup } from '../cgroup.ts'
import { needs } from '../debian.ts'
import { assertStored, Reporter } from '../faults/numbered.ts'
import { startPrometheus } from '../interop/prometheus-peer.ts'
import { temporaryDir, until } from '../sonde-process.ts'
import { type ContainedSonde, startContained, startContainer } from './container.ts'
import { readLayout } from './layout.ts'
import { type Registry, startRegistry } from './registry.ts'
import { type ContainerOptions, openRuntime, type Runtime } from './runtime.ts'
import { sharedImage } from './shared-image.ts'

const HERE = needs('podman', 'skopeo', 'docker-registry', 'prometheus')
const LIMIT_MS = 60_000
const MEMORY_BYTES = 512 << 20
const LOAD_PERIOD_MS = 20
/** How a container ends whose process the kernel ended. */
const KILLED = 137

let layout: string
let registry: Registry
let runtime: Runtime

before(async () => {
  if (HERE.skip !== false) return
  layout = await sharedImage()
  registry = await startRegistry()
  await registry.push(layout, 'sonde:test')
  runtime = await openRuntime(layout, `${registry.address}/sonde:test`)
})

after(async () => {
  await runtime?.close()
  await registry?.close()
})

/** A folder of this machine for a user of a container. */
function ownedBy(uid: number, folder: string): string {
  mkdirSync(folder, { recursive: true })
  if (process.getuid?.() === 0) chownSync(folder, uid, uid)
  return folder
}

/** A folder that the user of the image reads. */
function sharedFolder(t: TestContext): string {
  const { path, remove } = temporaryDir()
  t.after(remove)
  chmodSync(path, 0o755)
  return path
}

/** A folder in memory that several containers have as their `/dev/shm`. */
function sharedMemory(t: TestContext): string {
  const folder = mkdtempSync('/dev/shm/sonde-test-')
  chmodSync(folder, 0o1777)
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a registry has the image by the digest of its layout', HERE, async () => {
  const index = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8'))
  assert.equal(await registry.digestOf('sonde:test'), index.manifests[0].digest)
  const { labels, uid, entrypoint, cmd, layers } = readLayout(layout)
  assert.deepEqual([uid, entrypoint, cmd], [65_532, ['/usr/bin/sonde'], ['agent']])
  assert.equal(labels['org.opencontainers.image.licenses'], 'Apache-2.0')
  const list = execFileSync('tar', ['-xzOf', layers.at(-1) ?? '', 'usr/share/sonde/sbom.spdx.json'], {
    encoding: 'utf8',
  })
  const parts = new Set(JSON.parse(list).packages.map(({ name }: { readonly name: string }) => name))
  // Of the repository, of npm beside and in the program, and of Debian.
  for (const name of ['sonde', '@sonde/sdk', 'koffi', 'fastify', 'libc6', 'ca-certificates'])
    assert.ok(parts.has(name), name)
  assert.ok([...parts].some((name) => /^node-linux-/.test(String(name))))
})

test('an agent without rights reads another /proc and /sys, and Prometheus scrapes it', HERE, async (t) => {
  const path = sharedFolder(t)
  const tree = writeTree(join(path, 'node'))
  const agent = await startContained(t, runtime, {
    mounts: [
      { from: tree.procfs, to: '/host/proc', readOnly: true },
      { from: tree.sysfs, to: '/host/sys', readOnly: true },
    ],
    env: { SONDE_PATHS_PROCFS: '/host/proc', SONDE_PATHS_SYSFS: '/host/sys' },
    memoryBytes: MEMORY_BYTES,
  })
  const status = readFileSync(`/proc/${await agent.pid()}/status`, 'utf8')
  assert.match(status, /^Uid:\s+65532\s+65532/m)
  if (runtime.confinement !== 'files') {
    assert.match(status, /^CapEff:\s+0+$/m)
    assert.match(status, /^NoNewPrivs:\s+1$/m)
    assert.match(readFileSync(`/proc/${await agent.pid()}/mountinfo`, 'utf8'), / \/ \/ ro\b|[^ ]+ \/ ro,/)
  }
  const prometheus = await startPrometheus(t, agent.scrapes, 1)
  const series = await until('a scrape of the tree', LIMIT_MS, async () => {
    const found = await prometheus.range('netdev_rx_bytes_total{device="eth89"}[1m]')
    return found.length > 0 ? found : undefined
  })
  assert.equal(series.length, 1)
  assert.equal(await agent.stop(), 0, agent.output())
})

test('an agent without any permission is ready, names each, and does not repeat itself', HERE, async (t) => {
  const path = sharedFolder(t)
  const closed = (name: string, mode = 0o700) => {
    const folder = ownedBy(0, join(path, name))
    chmodSync(folder, mode)
    return folder
  }
  const tree = writeTree(join(path, 'node'))
  const agent = await startContained(t, runtime, {
    mounts: [
      { from: tree.sysfs, to: '/host/sys', readOnly: true },
      { from: closed('state'), to: '/var/lib/sonde' },
      { from: closed('run', 0o755), to: '/run/sonde' },
      { from: closed('pod-resources'), to: '/var/lib/kubelet/pod-resources' },
    ],
    env: { SONDE_PATHS_SYSFS: '/host/sys' },
  })
  // Without a container the folders are those of the machine.
  if (runtime.confinement === 'files') return
  for (const said of [
    /absent: [^;]*\bdoca_telemetry_pci\b[^;]*; sonde check says why/,
    /absent: [^;]*\brdma\b/,
    /kubernetes denied: \/var\/lib\/kubelet\/pod-resources\/kubelet\.sock may not be read/,
  ])
    assert.match(agent.output(), said)
  // It looks for its folders again each second.
  await until('some more seconds', LIMIT_MS, async () => {
    const samples = numberOn(await metricsOf(agent), 'sonde_source_samples_total{source="netdev"}')
    return samples !== undefined && samples > 4
  })
  for (const warning of ['applications cannot report', 'clients are not recognised'])
    assert.equal(agent.output().split(warning).length - 1, 1, agent.output())
  const text = await metricsOf(agent)
  assert.doesNotMatch(text, /^rdma_/m, 'an absent device has no numbers')
  assert.equal(await agent.stop(), 0, agent.output())
})

test('acknowledged records of a host process survive an upgrade and the limit of memory', HERE, async (t) => {
  const path = sharedFolder(t)
  const options: ContainerOptions = {
    args: ['up'],
    // The user of the process on the machine, so that both may read the file in memory.
    ...{ asRoot: process.getuid?.() === 0, hostIpc: true, memoryBytes: MEMORY_BYTES },
    mounts: [
      { from: ownedBy(0, join(path, 'run/sonde')), to: '/run/sonde' },
      { from: ownedBy(0, join(path, 'state/sonde')), to: '/var/lib/sonde' },
    ],
  }
  const first = await startContained(t, runtime, options)
  const reporter = new Reporter(join(path, 'run/sonde'))
  t.after(() => reporter.stop())
  const status = () => reporter.sink.status()
  const acknowledged = async () => {
    const before = status().ackedSequence
    await until('an acknowledgement', LIMIT_MS, () => status().ackedSequence > before)
  }
  const shared = () => `shared memory, and not ${status().inlineReason}`
  await until(shared, LIMIT_MS, () => status().mode === 'shared')
  await acknowledged()
  assert.equal(await first.stop(), 0, first.output())

  const second = await startContained(t, runtime, options)
  await acknowledged()
  await endByMemory(t, second)

  const third = await startContained(t, runtime, options)
  // The samples of the node between the two are lost, and the new one says why.
  const [said] = await third.said(/Sonde ended without stopping[^"]*/)
  if (runtime.confinement !== 'files')
    assert.match(said, /the kernel ended \d+ process.* Sonde used \d+ MiB of its limit of \d+ MiB/)
  reporter.stop()
  await reporter.sink.flush()
  assert.deepEqual(status().dropped, {})
  assert.equal(await third.stop(), 0, third.output())
  await assertStored(join(path, 'state/sonde/store.db'), reporter.reported)
})

/** Has the kernel end a Sonde, because its container may have no more memory; without a container it is killed. */
async function endByMemory(t: TestContext, sonde: ContainedSonde): Promise<void> {
  if (runtime.confinement === 'files') return void (await sonde.stop('SIGKILL'))
  Cgroup.ofProcess(await sonde.pid()).starve()
  // Answers take memory until there is no more.
  const loading = setInterval(() => metricsOf(sonde).catch(() => undefined), LOAD_PERIOD_MS)
  t.after(() => clearInterval(loading))
  assert.equal(await sonde.ended, KILLED, sonde.output())
  clearInterval(loading)
}

test('an application of another container is acknowledged through shared memory', HERE, async (t) => {
  const path = sharedFolder(t)
  const { uid } = readLayout(layout)
  const mounts = [
    { from: ownedBy(uid, join(path, 'run/sonde')), to: '/run/sonde' },
    { from: sharedMemory(t), to: '/dev/shm' },
  ]
  const state = { from: ownedBy(uid, join(path, 'state/sonde')), to: '/var/lib/sonde' }
  const agent = await startContained(t, runtime, { args: ['up'], mounts: [...mounts, state] })
  const extended = await runtime.extend(join(root, 'examples/custom-collector'))
  const collector = startContainer(t, runtime, { ...extended, mounts: [...(extended.mounts ?? []), ...mounts] })
  const [said] = await collector.said(/^.*(acknowledged|IPC_).*$/m)
  assert.equal(said, 'acknowledged (durable), through shared memory')
  const page = await metricsOf(agent)
  const free = numberOn(page.replace(/(scratch_free_bytes)\{.*\}/, '$1'), 'scratch_free_bytes')
  assert.ok(free !== undefined && free > 0, page)
})
