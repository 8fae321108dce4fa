import { eventLogContract } from '../../ports/event-log.contract.ts';
import { describeWithEngines } from '../../testing/test-engines.ts';
import { newKafkaPlace } from './kafka-event-log.place.ts';

describeWithEngines('kafka', ({ kafkaBrokers }) => {
  eventLogContract('kafka', () => newKafkaPlace(kafkaBrokers));
});
