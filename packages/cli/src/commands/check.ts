import { existsSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { checkSocketsDir, probeSources } from '@sonde/agent'
import { checkStore } from '@sonde/console'
import { defaultDataRoot, FieldSets, messageOf, SondeError } from '@sonde/sdk'
import { checkFoldersNow, countOf, printable } from '@sonde/sdk/internal'
import type { Loaded } from '../config/load.ts'
import { storePath } from '../config/store-path.ts'
import { placeOf, tryListener } from './listener.ts'

type ExportConfig = Loaded['config']['agent']['export']
type PrometheusConfig = ExportConfig['prometheus']
type FilesConfig = ExportConfig['files']

/** Something that is not as it should be. What is absent is normal. */
const FAULTS = new Set(['denied', 'stuck', 'failed', 'damaged', 'taken'])

/**
 * `sonde check`: says whether the configuration is sound, whether it could listen, whether applications can report,
 * whether files of records and history can be kept, and what each source would find here. Changes nothing. Exit code 0
 * unless something is taken, denied, stuck, failed or damaged.
 */
export async function check({ config, file }: Loaded): Promise<number> {
  const rows = [['configuration', 'ok', file ?? 'defaults (no file)']]
  rows.push(await listenerRow(config.agent.export.prometheus))
  rows.push(...(await fieldSetRows(config.agent.export.prometheus)))
  if (config.agent.service.enabled) {
    const { state, found } = await checkSocketsDir(config.agent.service.sockets_dir)
    rows.push(['service', state, found])
  }
  if (config.agent.export.files.enabled) rows.push(filesRow(config.agent.export.files))
  if (config.store.enabled) {
    const { state, found } = checkStore(storePath(config.store))
    rows.push(['history', state, found])
  }
  for (const { name, probe } of await probeSources(config.agent)) {
    rows.push([name, probe.state, probe.state === 'present' ? probe.found : probe.reason])
  }
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  for (const row of rows)
    console.log(
      row
        .map((cell, i) => printable(cell).padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
  return rows.some(([, state]) => FAULTS.has(state ?? '')) ? 1 : 0
}

async function fieldSetRows({ cset_dir: csetDir, fset_dir: fsetDir }: PrometheusConfig): Promise<string[][]> {
  const sets = new FieldSets({ csetDir, fsetDir, onFault: () => undefined })
  if (!sets.isOn) return []
  const { files, faults } = await sets.check()
  if (faults.length > 0) return faults.map((fault) => ['field sets', 'damaged', fault])
  return [['field sets', 'ok', countOf(files, 'file')]]
}

function filesRow({ data_root: dataRoot = defaultDataRoot(), max_size_bytes: fileBytes }: FilesConfig): string[] {
  const path = resolve(dataRoot)
  try {
    const isThere = checkFoldersNow(path)
    const { bavail, bsize } = statfsSync(nearestOf(path))
    const free = `${((bavail * bsize) / 2 ** 30).toFixed(1)} GiB are free`
    if (bavail * bsize < fileBytes)
      return ['files', 'denied', `ENOSPC: ${path}: ${free}, and a file takes export.files.max_size_bytes, ${fileBytes}`]
    return isThere
      ? ['files', 'present', `${path}, ${free}`]
      : ['files', 'absent', `${path} is made with the first record, ${free}`]
  } catch (error) {
    return ['files', 'denied', `${messageOf(error)}; give export.files.data_root another folder`]
  }
}

/** The folder itself, or the nearest above it that there is. */
function nearestOf(path: string): string {
  return existsSync(path) ? path : nearestOf(dirname(path))
}

async function listenerRow({ host, port }: PrometheusConfig): Promise<string[]> {
  try {
    await tryListener(host, port)
    return ['listener', 'free', placeOf(host, port)]
  } catch (error) {
    const isTaken = error instanceof SondeError && codeOf(error.cause) === 'EADDRINUSE'
    return ['listener', isTaken ? 'taken' : 'denied', messageOf(error)]
  }
}

function codeOf(cause: unknown): string | undefined {
  return (cause as { code?: string } | undefined)?.code
}
