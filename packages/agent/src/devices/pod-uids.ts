import { labelOf } from '@sonde/sdk/internal'
import { factText } from './claims.ts'
import type { NamesOf } from './gpu-names.ts'
import { NamesTeller, type NameTaker } from './names-teller.ts'

/** Type with the UIDs of pods. */
const PODS = 'pod_info'

/** Sends the UIDs of pods to the sources that find the owners of processes: control groups name pods by them. */
export function podUids({ devices, sources }: NamesOf): NamesTeller {
  const isTaker = ({ definition }: NameTaker) => definition.takesPodNames === true
  const listed = () =>
    [...devices.facts()].flatMap((fact) => {
      const uid = fact.type.name === PODS && fact.goneMs === undefined ? factText(fact, 'uid') : ''
      const [namespace, pod] = [labelOf(fact.labels, 'namespace'), labelOf(fact.labels, 'pod')]
      return uid === '' ? [] : [{ uid, namespace, pod }]
    })
  return new NamesTeller({ devices, sources, isTaker, key: 'pods', listed })
}
