// The programs from Debian that some tests compare with, and which package brings each.

import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The package of each program that a test may ask for; where it takes several, with a blank between them. */
export const DEBIAN_PACKAGES = {
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
  'victoria-metrics': 'victoria-metrics',
  vmalert: 'victoria-metrics',
  'prometheus-node-exporter': 'prometheus-node-exporter',
  'chromium-headless-shell': 'chromium-headless-shell',
  influxd: 'influxdb',
  nfcapd: 'nfdump',
  nfdump: 'nfdump',
  nfacctd: 'pmacct',
  tshark: 'tshark',
  ethtool: 'ethtool',
  cc: 'gcc libc6-dev',
  nginx: 'nginx',
  'nginx-stream': 'libnginx-mod-stream',
  openssl: 'openssl',
  protoc: 'protobuf-compiler',
  python3: 'python3',
  grpcio: 'python3-grpcio python3-protobuf protobuf-compiler',
  'python3-kubernetes': 'python3-kubernetes',
  runc: 'runc',
  'systemd-analyze': 'systemd',
  podman: 'podman runc',
  skopeo: 'skopeo',
  'docker-registry': 'docker-registry',
  ip: 'iproute2',
  'json-c': 'libjson-c-dev',
} as const

/** Packages without a program, with the file that shows that they are installed. */
const FILES: Readonly<Record<string, string>> = {
  'json-c': '/usr/include/json-c/json.h',
  grpcio: '/usr/lib/python3/dist-packages/grpc/__init__.py',
  'python3-kubernetes': '/usr/lib/python3/dist-packages/kubernetes/__init__.py',
  'nginx-stream': '/usr/lib/nginx/modules/ngx_stream_module.so',
}

/** A program, a module, or a library with its headers, that a test may ask for. */
export type DebianProgram = keyof typeof DEBIAN_PACKAGES

/** The path of a program, or undefined if the machine lacks it. */
export function programPath(program: DebianProgram): string | undefined {
  const file = FILES[program]
  if (file !== undefined) return existsSync(file) ? file : undefined
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/bin', '/usr/sbin', '/usr/local/bin']
  return folders.map((folder) => join(folder, program)).find(isExecutable)
}

/** The packages of programs that this machine lacks. */
export function missingPackages(): string[] {
  const programs = Object.keys(DEBIAN_PACKAGES) as DebianProgram[]
  return packagesOf(programs.filter((program) => !programPath(program)))
}

/** The one command that installs packages, for a person to run. */
export function installCommand(packages: readonly string[]): string {
  return `sudo apt-get update && sudo apt-get install -y --no-install-recommends ${packages.join(' ')}`
}

/**
 * Options of a test that needs programs from Debian: skipped, with the command that would help, where one is missing.
 *
 * @example test('Prometheus scrapes us', needs('prometheus', 'promtool'), async () => { … })
 */
export function needs(...programs: DebianProgram[]): { skip: string | false } {
  const missing = programs.filter((program) => !programPath(program))
  if (missing.length === 0) return { skip: false }
  return { skip: `${missing.join(', ')} not found; ${installCommand(packagesOf(missing))}` }
}

function packagesOf(programs: readonly DebianProgram[]): string[] {
  return [...new Set(programs.flatMap((program) => DEBIAN_PACKAGES[program].split(' ')))]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
