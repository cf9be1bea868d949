import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { dcgmExporter } from '../dcgm-exporter/dcgm-exporter.ts'
import { TestedSource, TestNode } from '../test-node.ts'
import { fixture } from './test-exporter.ts'

/** A key and a self-signed certificate for 127.0.0.1. */
function makeCertificate(root: string, name: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(root, `${name}.key`), join(root, `${name}.pem`)]
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  execFileSync('openssl', ['req', ...kind, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' })
  return { key, cert }
}

test('an exporter is trusted by a CA file alone, and shown a client certificate', async (t) => {
  const node = new TestNode(t)
  const [server, client] = ['server', 'client'].map((name) => makeCertificate(node.root, name)) as [
    ReturnType<typeof makeCertificate>,
    ReturnType<typeof makeCertificate>,
  ]
  const options = {
    ...{ key: readFileSync(server.key), cert: readFileSync(server.cert), ca: readFileSync(client.cert) },
    ...{ requestCert: true, rejectUnauthorized: true },
  }
  const exporter = createServer(options, (_, response) => void response.end(fixture('kubernetes')))
  exporter.listen(0, '127.0.0.1')
  await once(exporter, 'listening')
  t.after(() => {
    exporter.closeAllConnections()
    exporter.close()
  })
  const addresses = [`https://127.0.0.1:${(exporter.address() as AddressInfo).port}/metrics`]
  const sourceOf = (files: object) => {
    const tested = new TestedSource(dcgmExporter, node.paths, { addresses, ...files })
    t.after(() => tested.source.close())
    return tested.source
  }
  const shown = { cert_file: client.cert, key_file: client.key }
  await sourceOf({ ca_file: server.cert, ...shown }).sample()
  await assert.rejects(
    sourceOf(shown).sample(),
    /has a certificate that is not trusted: self-signed certificate.*; ca_file names its signers/,
  )
  await assert.rejects(sourceOf({ ca_file: server.cert }).sample(), { code: 'SRC_SCRAPE' }, 'shows none')
})
