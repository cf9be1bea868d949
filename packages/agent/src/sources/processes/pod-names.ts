import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { SondeError } from '@sonde/sdk'
import type { NamedContainer } from './workload.ts'

/** Entries of a folder that are read. Policy: later entries are not read. */
const ENTRIES_MAX = 16_384
/** Time between two readings, if pods without a name remain. Unit: milliseconds. */
const READ_APART_MS = 5000
/** `<pod>_<namespace>_<container>-<id>.log`. Names of Kubernetes contain no `_`. */
const LOG = /^(?<pod>[a-z0-9.-]+)_(?<namespace>[a-z0-9-]+)_(?<container>[a-z0-9-]+)-(?<id>[0-9a-f]{64})\.log$/
/** `<namespace>_<pod>_<uid>`. */
const FOLDER = /^(?<namespace>[a-z0-9-]+)_(?<pod>[a-z0-9.-]+)_(?<uid>[0-9a-f-]{32,36})$/

interface SentPod {
  readonly uid: string
  readonly namespace: string
  readonly pod: string
}

function isSentPod(each: Partial<Record<keyof SentPod, unknown>> | null): each is SentPod {
  return typeof each?.uid === 'string' && typeof each.namespace === 'string' && typeof each.pod === 'string'
}

/**
 * Names of the pods of this node from the names of their log files, which the kubelet makes: no API server is needed.
 * Folders are read when a pod has no name yet. Without these folders, the names come from the agent.
 */
export class PodNames {
  readonly #folder: string
  readonly #nowMs: () => number
  #byUid: ReadonlyMap<string, NamedContainer> = new Map()
  #byContainer: ReadonlyMap<string, NamedContainer> = new Map()
  #sent: ReadonlyMap<string, NamedContainer> = new Map()
  #readMs = Number.NEGATIVE_INFINITY

  /**
   * @param folder Folder with `pods` and `containers`, `/var/log`.
   * @param nowMs A clock that only rises. Unit: milliseconds.
   */
  constructor(folder: string, nowMs: () => number) {
    this.#folder = folder
    this.#nowMs = nowMs
  }

  /** Number of names that are kept: those of the last reading, and those that the agent sent. */
  get count(): number {
    return this.#byUid.size + this.#byContainer.size + this.#sent.size
  }

  /**
   * Takes the command of the agent with the pods that the API server reports, for a node without these folders:
   * `{"pods": [{"uid", "namespace", "pod"}]}`.
   *
   * @throws SondeError `AGT_COMMAND` if the command is malformed.
   */
  take(command: unknown): void {
    const pods = (command as { readonly pods?: unknown } | null)?.pods
    if (!Array.isArray(pods) || !pods.every(isSentPod))
      throw new SondeError('AGT_COMMAND', 'the command is not {"pods": [{"uid", "namespace", "pod"}]}')
    const sent = pods.slice(0, ENTRIES_MAX).map(({ uid, namespace, pod }) => {
      return [uid, { namespace, pod, container: '' }] as const
    })
    this.#sent = new Map(sent)
  }

  /** The pod of a UID, with the name of the container of an id. */
  find(uid: string, container: string): NamedContainer | undefined {
    return this.#byContainer.get(container) ?? this.#byUid.get(uid) ?? this.#sent.get(uid)
  }

  /** Reads the folders again, at most every five seconds. */
  async refresh(): Promise<void> {
    if (this.#nowMs() - this.#readMs < READ_APART_MS) return
    this.#readMs = this.#nowMs()
    const byUid = new Map<string, NamedContainer>()
    for await (const name of this.#names('pods')) {
      const { namespace, pod, uid } = FOLDER.exec(name)?.groups ?? {}
      if (namespace !== undefined && pod !== undefined && uid !== undefined)
        byUid.set(uid, { namespace, pod, container: '' })
    }
    const byContainer = new Map<string, NamedContainer>()
    for await (const name of this.#names('containers')) {
      const { namespace, pod, container, id } = LOG.exec(name)?.groups ?? {}
      if (namespace === undefined || pod === undefined || container === undefined || id === undefined) continue
      byContainer.set(id, { namespace, pod, container })
    }
    this.#byUid = byUid
    this.#byContainer = byContainer
  }

  /** Names in a folder; none if it cannot be read, as without Kubernetes. */
  async *#names(folder: string): AsyncGenerator<string, void> {
    try {
      let count = 0
      for await (const { name } of await opendir(join(this.#folder, folder))) {
        if (++count > ENTRIES_MAX) return
        yield name
      }
    } catch {
      // Sonde may run on a node without Kubernetes, or without this folder in its pod.
    }
  }
}
