import { open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { OPEN_FLAGS } from '../kernel-file.ts'

/** Files of the folder that are looked at, and jobs of one GPU. Policy: later ones are not read. */
const FILES_MAX = 4096
const JOBS_MAX = 256
/** The first part of a file that is read. Unit: bytes. */
const FILE_BYTES_MAX = 16_384
/** `<gpu>`, or `<gpu>.<instance>` for a MIG instance. */
const FILE = /^(?<gpu>\d{1,4})(?:\.(?<instance>\d{1,3}))?$/
const JOB = /^[\w.:[\]-]{1,64}$/

/** A job that uses a GPU. */
export interface MappedJob {
  readonly job: string
  /** Id of the MIG instance; empty for a whole GPU. */
  readonly instance: string
}

/**
 * The job mapping files of dcgm-exporter (`--hpc-job-mapping-dir`), which a batch system writes when a job starts: one
 * file for each GPU, one job id a line.
 */
export class JobFiles {
  readonly #folder: string

  /** @param folder The folder; empty: there is none. */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** The jobs of a GPU; none if the folder cannot be read, as before the first job. */
  async jobsOf(gpu: number): Promise<MappedJob[]> {
    const jobs: MappedJob[] = []
    for (const { name, instance } of await this.#filesOf(gpu)) {
      for (const line of (await this.#read(name)).split('\n')) {
        const job = line.trim()
        if (JOB.test(job) && jobs.length < JOBS_MAX) jobs.push({ job, instance })
      }
    }
    return jobs
  }

  async #filesOf(gpu: number): Promise<{ readonly name: string; readonly instance: string }[]> {
    if (this.#folder === '') return []
    const files: { name: string; instance: string }[] = []
    try {
      let count = 0
      for await (const { name } of await opendir(this.#folder)) {
        if (++count > FILES_MAX) break
        const found = FILE.exec(name)?.groups
        if (found !== undefined && Number(found.gpu) === gpu) files.push({ name, instance: found.instance ?? '' })
      }
    } catch {
      // The batch system makes the folder with its first job.
    }
    return files.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async #read(name: string): Promise<string> {
    try {
      await using file = await open(join(this.#folder, name), OPEN_FLAGS)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(FILE_BYTES_MAX), 0, FILE_BYTES_MAX, 0)
      const text = buffer.toString('utf8', 0, bytesRead)
      // A line that is cut would be another job.
      return bytesRead < FILE_BYTES_MAX ? text : text.slice(0, text.lastIndexOf('\n') + 1)
    } catch {
      // The job has just ended.
      return ''
    }
  }
}
