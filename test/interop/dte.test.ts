// An existing DTE beside Sonde, by the files of deploy/dte. DTE is doubled: one double scrapes what its configuration
// names, the other receives Fluent Forward at its port.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ForwardPeer } from '../../packages/sdk/test/forward-peer.ts'
import { parseExposition } from '../../packages/sdk/test/parse-exposition.ts'
import { startSonde, temporaryDir, until } from '../sonde-process.ts'

const LIMIT_MS = 60_000
const METRIC = 'doca_adp_retx_packets'

const fileOf = (name: string) => readFileSync(new URL(`../../deploy/dte/${name}`, import.meta.url), 'utf8')

/** The keys of a configuration of DTE. */
function keysOf(name: string): ReadonlyMap<string, string> {
  const lines = fileOf(name).matchAll(/^([\w.-]+)=(.*)$/gm)
  return new Map(Array.from(lines, ([, key = '', value = '']) => [key, value]))
}

test('DTE scrapes Sonde, and Sonde sends to the Forward port of DTE', async (t) => {
  const port = keysOf('forward.ini').get('fluent-aggr-port')
  assert.ok(fileOf('forward.yaml').includes(`port: ${port}\n`), 'both sides name the same port')
  const dte = await ForwardPeer.start(t)
  const { path: dir, remove } = temporaryDir()
  t.after(remove)
  const config = join(dir, 'forward.yaml')
  writeFileSync(config, fileOf('forward.yaml').replace(`port: ${port}`, `port: ${dte.port}`))
  const sonde = await startSonde(['agent', '--only-simulated', '--config', config])
  t.after(() => sonde.stop('SIGKILL'))

  const [name, url = '', interval] = keysOf('scrape.ini').get('prometheus-aggr-endpoint.1')?.split(',') ?? []
  assert.deepEqual([name, Number(interval)], ['sonde', 1000])
  const target = url.replace('http://127.0.0.1:9394', sonde.address)
  assert.notEqual(target, url, 'the default address of Sonde')
  const scraped = await until('the metric in a scrape', LIMIT_MS, async () => {
    const answer = await fetch(target)
    const families = parseExposition(new Uint8Array(await answer.arrayBuffer()), 'text')
    return families.get(METRIC)?.samples
  })
  const scrapedNics = new Set(scraped.map(({ labels }) => labels.device))
  assert.ok(scrapedNics.size >= 8)

  const sent = await until('records of all NICs', LIMIT_MS, () => {
    const records = dte.events.filter(({ tag }) => tag === 'sonde.doca_adp_retx').map(({ record }) => record)
    return new Set(records.map(({ device }) => device)).size === scrapedNics.size && records
  })
  for (const record of sent) {
    assert.equal(record.type_name, 'doca_adp_retx')
    assert.ok(scrapedNics.has(String(record.device)), String(record.device))
    assert.ok(BigInt(String(record.packets)) >= 0n, String(record.packets))
  }
})
