import { useMemo } from 'react'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { Empty } from '../../components/empty.tsx'
import { PageHead } from '../../components/page-head.tsx'
import { SimulatedOffer } from '../../components/simulated-offer.tsx'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { usePageTitle } from '../use-page-title.ts'
import { InterfaceCharts, InterfacePanel, useInterfaces } from './interface-panels.tsx'
import { fabricPorts } from './port-data.ts'
import { PortPanels } from './port-panels.tsx'

/** Compares all ports and highlights outliers. Interfaces that belong to no adapter port come below, or alone. */
export function FabricPage() {
  usePageTitle('Fabric')
  const devices = useDevices()
  const ports = useMemo(() => fabricPorts(devices.data?.devices ?? []), [devices.data])
  const interfaces = useInterfaces(ports)
  const hasPorts = ports.length > 0
  const isKnown = devices.data !== undefined || devices.error !== undefined
  const counts = [hasPorts && countText(ports.length, 'port'), interfaces.countWords].filter(Boolean).join(', ')
  const page = usePageState()
  return (
    <>
      <PageHead title="Fabric" note={isKnown && counts} />
      {hasPorts && <PortPanels ports={ports} />}
      <InterfacePanel interfaces={interfaces} isAlone={!hasPorts && isKnown} />
      {!hasPorts && isKnown && page.isLive && <SimulatedOffer />}
      {!hasPorts && isKnown && interfaces.rows.length > 0 && <InterfaceCharts />}
      {!hasPorts && isKnown && page.isLive && interfaces.answer.isReady && interfaces.rows.length === 0 && (
        <Empty fact="No port and no interface is read here.">
          Ports come from the source rdma, interfaces from netdev: <Link href={page.hrefTo('/sources')}>Sources</Link>{' '}
          says whether they run. Every other value is in the <Link href={page.hrefTo('/explore')}>Explorer</Link>.
        </Empty>
      )}
    </>
  )
}
