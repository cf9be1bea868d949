// The answers of `sonde explain` in docs/kubernetes.md, on a node where each of the steps is missing. Where a change is
// meant, this renews them: SONDE_GOLDEN=renew npm test -- kubernetes-page

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../packages/cli/src/config/load.ts'
import { runSonde, temporaryDir, until } from '../sonde-process.ts'

const PAGE = new URL('../../docs/kubernetes.md', import.meta.url)
const ANSWER = /^```\n\$ npx sonde explain (\w+)\n(.*?)^```$/gms
const LIMIT_MS = 180_000
const NOBODY = '127.0.0.1:1'
/** What the page shows in place of the address at which nobody listens. */
const ADDRESSES: Readonly<Record<string, string>> = {
  dcgm_exporter: 'http://10.0.0.11:9400/metrics',
  kube_state_metrics: 'http://10.0.0.20:8080/metrics',
}

test('the page of Kubernetes has the real answers of explain for missing steps', async (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const exporters = Object.keys(ADDRESSES).map(
    (type) => `  - { type: ${type}, addresses: ['http://${NOBODY}/metrics'] }`,
  )
  const kubelet = `  - { type: kubernetes, kubelet_socket: ${path}/kubelet.sock }`
  const config = join(path, 'sonde.yaml')
  writeFileSync(config, ['data_sources:', '  - type: nvml', '  - type: rdma', kubelet, ...exporters, ''].join('\n'))
  const page = readFileSync(PAGE, 'utf8')
  const names = [...page.matchAll(ANSWER)].map(([, name = '']) => name)
  assert.deepEqual(names, ['nvml', 'rdma', 'kubernetes', 'dcgm_exporter', 'kube_state_metrics'])
  const byName = new Map<string, string>()
  for (const name of names) {
    const args = ['explain', name, '--config', config, '--path.sysfs', path, '--listen', NOBODY]
    // A busy machine is not what the page is about.
    const output = await until(`the answer about ${name}`, LIMIT_MS, async () => {
      const { code, output } = await runSonde(args)
      assert.equal(code, 1, output)
      return output.includes('starved') ? undefined : output
    })
    const address = ADDRESSES[name] ?? ''
    const shown = output
      .replaceAll(`${path}/kubelet.sock`, '/var/lib/kubelet/pod-resources/kubelet.sock')
      .replaceAll(path, '/sys')
      .replaceAll(`http://${NOBODY}/metrics`, address)
      .replaceAll(`ECONNREFUSED ${NOBODY}`, `ECONNREFUSED ${address && new URL(address).host}`)
      .replaceAll(`http://${NOBODY}`, 'http://127.0.0.1:9394')
    byName.set(name, shown.trimEnd())
  }
  const renewed = page.replace(ANSWER, (_, name: string) => {
    return `\`\`\`\n$ npx sonde explain ${name}\n${byName.get(name)}\n\`\`\``
  })
  if (process.env.SONDE_GOLDEN === 'renew') writeFileSync(PAGE, renewed)
  assert.equal(readFileSync(PAGE, 'utf8'), renewed)
})

test('the configurations of the page are accepted', (t) => {
  const { path, remove } = temporaryDir()
  t.after(remove)
  const file = join(path, 'sonde.yaml')
  const blocks = [...readFileSync(PAGE, 'utf8').matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = '']) => text)
  const ours = blocks.filter((text) => text.includes('data_sources:'))
  assert.equal(ours.length, 1)
  for (const text of ours) {
    writeFileSync(file, text)
    assert.equal((loadConfig({ file, environment: {} }).plain.data_sources as unknown[]).length, 2)
  }
})
